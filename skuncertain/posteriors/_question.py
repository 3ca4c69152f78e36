"""Whether posteriors answer the same question, and in what they differ if they do."""

from dataclasses import replace

import numpy as np

from skuncertain._utils.validation import refuse_if
from skuncertain.posteriors._about import (
    QUESTION,
    circumstances,
    folds_of,
    label_text,
    plain_prevalence,
    prevalence_text,
)

_MOST_NAMED = 10

# Why answers to different questions have no difference.
_WHY = {
    "metric": "",
    "pos_label": ": a metric of another class is another metric",
    "prevalence": ": the difference would be that of the populations",
    "n_new": ": a predictive distribution holds the noise of a new test set, which a posterior of "
    "the true metric does not",
    "estimand": ": one trained model and the average over training sets are different things",
}
_WORDS = {
    "metric": "metric",
    "pos_label": "class",
    "prevalence": "prevalence",
    "n_new": "kind of distribution",
    "estimand": "estimand",
}


def check_same_question(posteriors, parameter, subject):
    """Refuse posteriors of different questions; `subject` is who must have the same.

    Metric, class, prevalence, estimand and posterior or predictive must be the same. What is not
    known of a posterior (its class or estimand) is in nobody's way.
    """
    abouts = [posterior.about for posterior in posteriors]
    for field, reason in _WHY.items():
        found = _different(abouts, field)
        refuse_if(
            len(found) > 1,
            parameter,
            f"{subject} the same {_WORDS[field]}, got {_listed(found)}{reason}."
            + _remedy(field, abouts),
        )


def _different(abouts, field):
    """Texts of the values that a field has, each once."""
    found: list = []
    for about in abouts:
        key, text = _value(about, field)
        if key is not None and not any(_equal(key, other) for other, _ in found):
            found.append((key, text))
    return [text for _, text in found]


def _value(about, field):
    """Key by which values are the same, None if it is not known, and its text."""
    value = getattr(about, field)
    if field == "metric":
        return (value,), repr(value)
    if field == "n_new":
        return value is None, "posterior" if value is None else "predictive"
    if field == "prevalence":
        return (plain_prevalence(value),), "that of the data" if value is None else prevalence_text(
            value
        )
    if value is None:
        return None, ""
    return (value,), label_text(value) if isinstance(value, tuple) else repr(_plain(value))


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def _equal(one, other):
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # labels that cannot be compared are not the same
        return False


def _listed(texts):
    more = f" and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return " and ".join(texts) if len(texts) == 2 else ", ".join(texts[:_MOST_NAMED]) + more


def _remedy(field, abouts):
    named = field == "metric" and any(about.metric == "proportion" for about in abouts)
    return " A proportion has a name with proportion_posterior(..., metric=...)." if named else ""


def ways_that_differ(posteriors):
    """Name in which prior, model, method, folds and new rows differ, or None.

    `posteriors` are pairs of name and posterior; the text is such as "A: prior jeffreys; B: prior
    1".
    """
    ways = [
        {
            "prior": posterior.about.prior,
            "model": posterior.about.model,
            "method": posterior.about.method,
            "folds": folds_of(posterior.about),
            "new rows": posterior.about.n_new,
            "name": name,
        }
        for name, posterior in posteriors
    ]
    differing = [key for key in list(ways[0])[:-1] if len({str(one[key]) for one in ways}) > 1]
    if not differing:
        return None
    groups: dict = {}
    for one in ways:
        told = [f"{key} {'not known' if one[key] is None else one[key]}" for key in differing]
        groups.setdefault(", ".join(told), []).append(str(one["name"]))
    texts = [f"{_some(names)}: {text}" for text, names in groups.items()]
    more = [f"and {len(texts) - _MOST_NAMED} more"] if len(texts) > _MOST_NAMED else []
    return "; ".join([*texts[:_MOST_NAMED], *more])


def _some(names):
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def shared_question(abouts):
    """What all have in common, as one `About`, and what each has of its own, in words.

    For several posteriors on one axis: the first belongs below the axis, the second beside a name.
    """
    abouts = list(abouts)
    own = [field for field in QUESTION if len(_different(abouts, field)) > 1]
    if len({about.n_new for about in abouts}) > 1 and "n_new" not in own:
        own.append("n_new")  # test sets of different sizes
    common: dict = dict.fromkeys(own)
    for field in set(QUESTION).difference(own):
        known = (getattr(about, field) for about in abouts)
        common[field] = next((value for value in known if value is not None), None)
    texts = [", ".join(filter(None, (_own_text(one, field) for field in own))) for one in abouts]
    return replace(abouts[0].asked(), **common), texts


def _own_text(about, field):
    missing = {"prevalence": "prevalence of the data", "n_new": "posterior"}
    return circumstances(about).get(field, missing.get(field))
