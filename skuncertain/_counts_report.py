"""The report of one confusion matrix: `classification_report` with intervals."""

import numpy as np

from skuncertain._class_rates import cell_rates, class_posterior
from skuncertain._confusion_section import confusion_section, whole
from skuncertain._draws_posterior import DrawsPosterior
from skuncertain._metrics import get_metric
from skuncertain._posterior import warn_small, warn_undefined, weak_prior
from skuncertain._priors import cell_prior, describe_prior
from skuncertain._report import column, interval_cell, make_report, section
from skuncertain._warnings import kept

BASES = ("precision", "recall", "f1")
MOST_DRAWN = 100  # classes; a picture of more is longer than it is useful
_DRAWN = ("precision_weighted", "f1_weighted")  # macro F1 needs fewer numbers on its own
READING = (
    "Each interval holds the true value with the probability that is given as level, if the rows "
    "are a random sample of the rows that the model will meet, drawn independently of each other.",
    "The numbers before the intervals are those of scikit-learn's classification_report: what was "
    "seen in these rows. Where a score is 0/0, scikit-learn prints 0 and warns; here it is "
    "undefined. support is the number of rows of the class; accuracy stands in the column "
    "of F1 as it does there.",
    "Two intervals that overlap are no proof that two classes or models are equal. Compare models "
    "with compare_paired (same rows) or compare (different rows).",
)


def counts_report(
    counts,
    names,
    posterior_of_average,
    posteriors_of_classes,
    *,
    level,
    kind,
    prior,
    digits,
    how,
    weighted,
):
    """Report of one matrix; two functions give the posteriors of averages and of all classes."""
    matrix = np.asarray(counts.counts, dtype=float)
    support = matrix.sum(axis=-1)
    notes = []
    with kept() as caught:
        per_class = {base: posteriors_of_classes(base) for base in BASES}
        rows, priors, draws = _class_rows(per_class, names, support, level, kind)
        for name, metrics in (
            ("accuracy", {"f1": "accuracy"}),
            ("macro avg", {base: f"{base}_macro" for base in BASES}),
            ("weighted avg", {base: f"{base}_weighted" for base in BASES}),
        ):
            row = {"name": name, "support": whole(support.sum()), "aside": name == "accuracy"}
            for base, metric in metrics.items():
                posterior = posterior_of_average(metric)
                row[base] = _cell(posterior, level, kind)
                priors.append(posterior.prior)
                draws.append((posterior.n_draws, posterior.seed))
            rows.append(row)
    notes += caught.texts
    rates = cell_rates(matrix, prior) if how is None else None
    sections = {
        "scores": section(
            "Scores",
            [column("name", "class"), *BASES, "support"],
            rows,
            notes=_medical_names(counts, names),
            figure={"type": "methods", "columns": list(BASES)}
            if len(names) <= MOST_DRAWN
            else None,
        ),
        "confusion": confusion_section(matrix, names, rates, level, kind),
    }
    few = [clean_name for clean_name, n in zip(names, support, strict=True) if n < 5]
    if few:
        listed = ", ".join(map(str, few[:10])) + (" and others" if len(few) > 10 else "")
        notes.append(f"fewer than 5 rows in class {listed}: its intervals lean on the prior.")
    drawn = next(((n, seed) for n, seed in draws if n is not None), None)
    n = whole(support.sum())
    return make_report(
        "classification",
        "Classification report",
        settings={
            "level": level,
            "kind": kind,
            "prior": "; ".join(dict.fromkeys(text for text in priors if text)),
            "method": how or "Dirichlet posterior of one test set",
            "omega": None,
            "n": n,
            "weighted": weighted,
            "prior_array": prior if isinstance(prior, np.ndarray) else None,
            "k": None,
            "classes": len(names),
            "draws": None if drawn is None else f"{drawn[0]} for some averages, seed {drawn[1]}",
        },
        question=(
            "What are precision, recall and F1 of this one model on rows like these "
            f"{_shown(n)}, of which they are a random sample?"
        ),
        sections=sections,
        warnings=notes,
        reading=READING,
        digits=digits,
    )


def _medical_names(counts, names):
    """Where to find what medicine calls by other names: two classes only."""
    if len(names) != 2:
        return []
    positive = counts.labels.index(counts.pos_label)
    yes, no = names[positive], names[1 - positive]
    return [
        f"positive class {yes}: its recall is the sensitivity, its precision the PPV; "
        f"recall and precision of {no} are specificity and NPV"
    ]


def _shown(n):
    return f"{n}" if isinstance(n, int) else f"{n:.1f} (effective)"


def _cell(posterior, level, kind):
    interval = posterior.interval(level, kind)
    return interval_cell(interval, posterior.observed, posterior.interval_error(level, kind))


def _class_rows(per_class, names, support, level, kind):
    rows = [{"name": name, "support": whole(n)} for name, n in zip(names, support, strict=True)]
    priors, draws = [], []
    for base, posterior in per_class.items():
        ends = np.broadcast_arrays(*posterior.interval(level, kind))
        errors = np.broadcast_to(posterior.interval_error(level, kind), support.shape)
        for k, row in enumerate(rows):
            ends_of_class = (ends[0][k], ends[1][k])
            row[base] = interval_cell(ends_of_class, posterior.observed[k], errors[k])
        priors.append(posterior.prior)
        draws.append((posterior.n_draws, posterior.seed))
    return rows, priors, draws


def posteriors_of_classes(counts, prior):
    """Return the function that gives a metric of all classes at once."""
    matrix = np.asarray(counts.counts, dtype=float)
    return lambda base: class_posterior(matrix, base, prior)


def posteriors_of_averages(counts, prior, n_draws, seed):
    """Return the function that gives an average over classes; those without a formula are drawn."""
    matrix = np.asarray(counts.counts, dtype=float)
    options = {"prior": prior, "n_draws": n_draws, "random_state": seed}
    used, text = prior, describe_prior(prior)
    if isinstance(prior, str) and prior == "auto":
        used = "neutral" if counts.n_classes == 2 else "shared"
        text = "auto: neutral, 1/3 per cell" if counts.n_classes == 2 else "auto: shared"
    joint: list = []

    def posterior(name):
        if name not in _DRAWN:
            return counts.posterior(name, **options)
        if not joint:  # the same draws serve all of them: with many classes it is they that cost
            joint.append(counts.joint_posterior(_DRAWN, **options))
        metric = get_metric(name)
        observed, pseudo = metric.evaluate(matrix), cell_prior(used, matrix)
        warn_undefined(observed, metric, matrix, proper=bool(np.all(matrix + pseudo > 0)))
        if isinstance(used, str) and used == "shared":
            warn_small(matrix, metric)
        return DrawsPosterior(
            joint[0][name],
            seed=joint[0].seed,
            metric=metric.name,
            range=metric.range,
            observed=observed,
            prior=text,
            closing=weak_prior(matrix, pseudo),
        )

    return posterior
