"""A cross-validation splits once, and its report makes every posterior once."""

from collections import Counter

import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from skuncertain import BayesianCrossValidator, cross_val_posterior
from skuncertain.model_selection import _cross_val_methods, _cross_val_posterior, _splits

X, Y = make_classification(240, 6, flip_y=0.15, random_state=1)
METRICS = ["accuracy", "f1", "mcc"]


class CountingSplitter(StratifiedKFold):
    """Counts how often it is asked."""

    calls = 0

    def split(self, X, y=None, groups=None):
        type(self).calls += 1
        return super().split(X, y, groups)


@pytest.fixture
def posteriors(monkeypatch):
    """Counter of (metric, method, omega, estimand), of all posteriors made from folds."""
    made = Counter()
    original = _cross_val_posterior.posterior_of_folds

    def counted(folds, options, **more):
        made[folds.metric.name, options.method, options.omega, options.estimand] += 1
        return original(folds, options, **more)

    for module in (_cross_val_posterior, _cross_val_methods):
        monkeypatch.setattr(module, "posterior_of_folds", counted)
    return made


@pytest.fixture
def splits(monkeypatch):
    """Counter of how often the rows of splits are looked at."""
    looked = Counter()
    original = _splits.Splits.of.__func__

    def counted(cls, train, test):
        looked["at"] += 1
        return original(cls, train, test)

    monkeypatch.setattr(_splits.Splits, "of", classmethod(counted))
    return looked


@pytest.mark.parametrize(("method", "number"), [("pooled", 8), ("nadeau_bengio", 7)])
def test_every_posterior_of_a_report_once(posteriors, method, number):
    bcv = BayesianCrossValidator(GaussianNB(), method=method, metrics=METRICS, random_state=0)
    bcv.fit(X, Y)
    assert not posteriors  # nothing is computed before it is asked for
    bcv.report()
    # auto (for three estimands), wang_li, averaged, dirichlet, bootstrap and corrected_t
    assert len(posteriors) == 3 * number
    assert set(posteriors.values()) == {1}
    assert bcv.intervals_.keys() == bcv.posteriors_.keys() == set(METRICS)
    bcv.result_.to_dict()
    assert sum(posteriors.values()) == 3 * number


def test_another_level_needs_no_other_posterior(posteriors):
    result = cross_val_posterior(GaussianNB(), X, Y, metrics=METRICS, random_state=0)
    wide, narrow = result.report(level=0.99), result.report(level=0.5)
    asked = [
        posteriors[metric, "pooled", "auto", estimand]
        for metric in ("accuracy", "f1")
        for estimand in ("fitted", "algorithm", "final")
    ]
    assert asked == [1] * 6
    ends = [report.to_frame("scores")["interval_low"].loc["f1"] for report in (wide, narrow)]
    assert ends == [result.interval("f1", level=level).low for level in (0.99, 0.5)]


@pytest.mark.parametrize("refit", [False, True])
def test_the_rows_are_split_once(splits, refit):
    CountingSplitter.calls = 0
    bcv = BayesianCrossValidator(GaussianNB(), cv=CountingSplitter(4), refit=refit).fit(X, Y)
    bcv.report()
    assert CountingSplitter.calls == 1
    assert splits["at"] == 1
