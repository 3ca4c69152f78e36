"""Posteriors against published values."""

import numpy as np
import pytest

from skuncertain import ConfusionCounts
from skuncertain.metrics import prior_from_metrics

CAELEN_A = {"tp": 65, "fn": 15, "fp": 35, "tn": 30}
CAELEN_B = {"tp": 50, "fn": 30, "fp": 30, "tn": 35}
SMALL = {"tp": 26, "fn": 0, "fp": 2, "tn": 6}


# Tötsch & Hoffmann (2021), Table S1, recomputed exactly: model three_beta, Beta(1, 1) on each of
# prevalence, TPR, TNR. Columns: tp, fn, tn, fp, then 95 % HDIs of TPR, TNR, prevalence and
# informedness, the equal-tailed interval of informedness, and P(informedness < 0).
TOETSCH = """
1 5 0 3 0 0.6070 1.0000 0.4729 1.0000 0.3146 0.8755 0.2630 0.9845 0.1817 0.9513 4.762e-03
2 10 0 3 1 0.7616 1.0000 0.3299 0.9740 0.4671 0.8952 0.2112 0.9270 0.1685 0.8995 2.747e-03
4a 5 1 10 1 0.4727 0.9867 0.6585 0.9945 0.1644 0.5798 0.2561 0.9044 0.2126 0.8773 1.687e-03
5b 8 9 4 1 0.2583 0.6905 0.4094 0.9822 0.5791 0.9092 -0.2022 0.5507 -0.2235 0.5333 1.711e-01
6a 2 12 19 1 0.0267 0.3726 0.7920 0.9974 0.2602 0.5756 -0.1170 0.3280 -0.1112 0.3344 1.854e-01
7a 26 0 6 2 0.8950 1.0000 0.4324 0.9458 0.6091 0.8831 0.3867 0.9196 0.3562 0.8994 4.313e-06
8 28 9 3 4 0.6069 0.8733 0.1488 0.7459 0.7164 0.9276 -0.1377 0.5217 -0.1340 0.5256 1.427e-01
9a 19 3 18 10 0.6866 0.9633 0.4631 0.7987 0.3098 0.5760 0.2404 0.6842 0.2286 0.6744 1.409e-04
11 40 7 15 8 0.7330 0.9326 0.4550 0.8190 0.5578 0.7730 0.2645 0.6827 0.2562 0.6755 1.506e-05
13b 89 4 16 3 0.9022 0.9866 0.6449 0.9567 0.7541 0.8918 0.5848 0.9117 0.5634 0.8981 8.137e-14
14a 136 2 2 12 0.9546 0.9978 0.0267 0.3726 0.8552 0.9470 0.0034 0.3550 0.0193 0.3842 6.741e-03
16 188 0 13 2 0.9843 1.0000 0.6478 0.9754 0.8847 0.9568 0.6419 0.9705 0.6110 0.9547 7.115e-20
"""


@pytest.mark.parametrize("line", TOETSCH.strip().splitlines(), ids=lambda line: line.split()[0])
def test_toetsch_and_hoffmann_table(line):
    _, *numbers = line.split()
    tp, fn, tn, fp = map(int, numbers[:4])
    tpr, tnr, prevalence, bm, bm_eti = np.array(numbers[4:14], dtype=float).reshape(5, 2)
    counts = ConfusionCounts.from_binary(tp=tp, fn=fn, fp=fp, tn=tn)
    given = {"prior": 1.0, "model": "three_beta"}
    for metric, expected in (("recall", tpr), ("specificity", tnr), ("prevalence", prevalence)):
        assert counts.posterior(metric, **given).interval(kind="hdi") == pytest.approx(
            tuple(expected), abs=6e-5
        )
    posterior = counts.posterior("informedness", **given)
    assert posterior.exact
    assert posterior.interval(kind="hdi") == pytest.approx(tuple(bm), abs=6e-5)
    assert posterior.quantile([0.025, 0.975]) == pytest.approx(bm_eti, abs=6e-5)
    # The far tail is a difference of numbers near 1: absolute accuracy is what can be asked.
    assert posterior.cdf(0.0) == pytest.approx(float(numbers[14]), rel=1e-3, abs=1e-12)


def test_informative_probabilities_of_the_paper():
    counts = ConfusionCounts.from_binary(tp=28, fn=9, fp=4, tn=3)
    result = counts.better_than_chance(prior=1.0, model="three_beta")
    assert result.p_worse == pytest.approx(0.1427, abs=6e-5)
    assert result.p_equivalent == 0
    assert result.p_better == pytest.approx(1 - 0.1427, abs=6e-5)
    with_rope = counts.better_than_chance(prior=1.0, model="three_beta", rope=0.1)
    assert sum(with_rope.to_dict().values()) == pytest.approx(1, abs=1e-12)
    assert with_rope.p_equivalent > 0.1


# Goutte & Gaussier's two systems with prior 1 per cell, exact: mean, 2.5 %, 50 %, 97.5 % of F1.
@pytest.mark.parametrize(
    ("cells", "mean", "quantiles"),
    [
        ((10, 5, 10, 5), 0.558, (0.3659, 0.5614, 0.7312)),
        ((3, 3, 2, 4), 0.5182, (0.2168, 0.5241, 0.7897)),
    ],
)
def test_f1_of_goutte_and_gaussier(cells, mean, quantiles):
    counts = ConfusionCounts.from_binary(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    posterior = counts.posterior("f1", prior=1)
    assert posterior.exact
    assert posterior.mean() == pytest.approx(mean, abs=6e-5)
    assert posterior.quantile([0.025, 0.5, 0.975]) == pytest.approx(quantiles, abs=6e-5)


def test_caelen_example_posterior():
    # Haldane prior; reference values by exact enumeration and 1e8 draws, four digits.
    posterior = ConfusionCounts.from_binary(**CAELEN_B).posterior("mcc", prior="haldane")
    assert posterior.exact
    assert posterior.prob(0, 1) == pytest.approx(0.9763, abs=6e-5)
    assert posterior.interval() == pytest.approx((0.0019, 0.3211), abs=6e-5)
    assert posterior.interval(kind="hdi") == pytest.approx((0.0033, 0.3225), abs=6e-5)
    assert posterior.mean() == pytest.approx(0.1634, abs=6e-5)
    assert posterior.std() == pytest.approx(0.0816, abs=6e-5)


def test_caelen_example_predictive(global_random_seed):
    # Exact over all 529,396 tables of 145 rows.
    counts = ConfusionCounts.from_binary(**CAELEN_B)
    n = 100_000
    posterior = counts.posterior("mcc", prior="haldane", n_draws=n, random_state=global_random_seed)
    predictive = posterior.predictive(145)
    for value, truth in ((predictive.prob(0, 1), 0.919), (predictive.cdf(-0.0658), 0.025)):
        assert value == pytest.approx(truth, abs=5e-4 + 4 * np.sqrt(truth * (1 - truth) / n))
    assert predictive.mean() == pytest.approx(0.1634, abs=5e-5 + 4 * 0.1157 / np.sqrt(n))
    assert predictive.std() == pytest.approx(0.1157, abs=5e-5 + 4 * 0.1157 / np.sqrt(2 * n))
    # Many intervals of this discrete distribution are almost equally short: a fixed seed.
    again = counts.posterior("mcc", prior="haldane", n_draws=n, random_state=0).predictive(145)
    assert again.interval(kind="hdi") == pytest.approx((-0.0672, 0.385), abs=0.01)
    assert posterior.predictive().interval().width == pytest.approx(
        predictive.interval().width, rel=0.03
    )


@pytest.mark.parametrize(("n", "truth"), [(None, 0.2574), (145, 0.2587)])
def test_caelen_correlation_of_precision_and_recall(n, truth, global_random_seed):
    draws = 200_000
    joint = ConfusionCounts.from_binary(**CAELEN_A).joint_posterior(
        ["precision", "recall"],
        n=n,
        prior="haldane",
        n_draws=draws,
        random_state=global_random_seed,
    )
    # standard error of a correlation: (1 - r**2) / sqrt(n)
    assert joint.correlation()[0, 1] == pytest.approx(truth, abs=5e-5 + 4 / np.sqrt(draws))


def test_caelen_prior_from_knowledge():
    counts = ConfusionCounts.from_binary(**CAELEN_B)
    prior = prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, weight=72.5)
    posterior = counts.posterior("precision", prior=prior)
    # printed, truncated: TP 74.063, FP 46.042
    assert (float(posterior.a), float(posterior.b)) == pytest.approx((74.063, 46.042), abs=1e-3)
    assert posterior.prior == "array"
