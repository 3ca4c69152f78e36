"""A model that is tested batch after batch: Caelen's sequential experiment (2017, Fig. 5).

A random forest is tested on 300 batches of 100 rows, and after each batch there is a 10 % interval
of its MCC. Caelen reports that after 150 batches the true MCC lies in about 90 % of these 10 %
intervals. The reason: his algorithm draws tables of 100 rows, so what he draws are *predictive*
intervals. They say where the MCC of another batch of 100 rows will be, and never become narrower
than the noise of such a batch. The interval of the true MCC is the *posterior* one. Each contains
what it speaks of in about 10 % of the cases.

Two things are done otherwise. The true MCC is an integral instead of the score on 20 million random
rows. And intervals are equal-tailed: where the shortest 10 % of 1000 draws lie is mostly chance,
and they held the true MCC in 26 to 40 % of the runs after 150 batches and more, for two forests.

    python examples/caelen_drift.py            # show the plot
    python examples/caelen_drift.py drift.png  # save it
"""

import sys

import numpy as np
from scipy.special import ndtr
from sklearn.ensemble import RandomForestClassifier

from skuncertain import ConfusionCounts, SequentialPosterior, get_metric

STEPS, ROWS, LEVEL, RUNS, SEED = 300, 100, 0.10, 200, 0
DRAWN_AT = np.arange(1, STEPS + 1, 6)  # batches after which one run is drawn
LOOKED_AT = (1, 2, 5, 10, 20, 50, 100, 150, 200, 299)  # batches after which many runs are compared

rng = np.random.default_rng(SEED)


def signal(X):
    """Caelen's equation 9 without the noise: with it, class 1 is where this is above 0."""
    squares = X**2
    return np.sin(squares.sum(axis=1)) + np.cos(squares).sum(axis=1) - 0.5


def data(n):
    X = rng.uniform(0, 3, size=(n, 2))
    return X, (signal(X) + rng.standard_normal(n) > 0).astype(int)


# The model, and its true confusion probabilities: the noise is integrated out, the two features
# stand on a fine grid.
forest = RandomForestClassifier(random_state=SEED).fit(*data(1000))
middle = (np.arange(400) + 0.5) * 3 / 400
grid = np.stack(np.meshgrid(middle, middle), axis=-1).reshape(-1, 2)
said, positive = forest.predict(grid), ndtr(signal(grid))
truth = np.array(
    [
        [np.mean((1 - positive) * (said == 0)), np.mean((1 - positive) * (said == 1))],
        [np.mean(positive * (said == 0)), np.mean(positive * (said == 1))],
    ]
)
mcc = get_metric("mcc")
true_mcc = mcc(truth)
print(f"True MCC of the forest: {true_mcc:.3f}\n")

# One run, batch after batch.
watch = SequentialPosterior("mcc", random_state=SEED)
predictive, posterior, of_batch = [], [], []
X, y = data(STEPS * ROWS)
batches = zip(np.split(y, STEPS), np.split(forest.predict(X), STEPS), strict=True)
for y_true, y_pred in batches:
    step = watch.update(y_true, y_pred)
    of_batch.append(step.value)
    if step.step in DRAWN_AT:
        posterior.append(step.interval(LEVEL))
        predictive.append(step.posterior.predictive(ROWS).interval(LEVEL))
predictive, posterior = np.array(predictive), np.array(posterior)

# Many runs. Given the forest, the table of a batch is multinomial.
tables = rng.multinomial(ROWS, truth.ravel(), size=(RUNS, STEPS)).reshape(RUNS, STEPS, 2, 2)
values = mcc(tables)
after = np.array(LOOKED_AT)
seen = ConfusionCounts(np.cumsum(tables, axis=1)[:, after - 1])
now = seen.posterior("mcc", n_draws=2000, random_state=SEED)
interval, next_batch = now.interval(LEVEL), now.predictive(ROWS).interval(LEVEL)


def inside(interval, value):
    return (interval.low <= value) & (value <= interval.high)


def share(hits):
    """Percentage with its Monte Carlo error; the steps of a run are not independent, runs are."""
    per_run = hits.reshape(len(hits), -1).mean(axis=1)
    error = 100 * per_run.std(ddof=1) / np.sqrt(len(per_run))
    return f"{100 * per_run.mean():5.1f} % (+- {error:.1f})"


shares = {
    "next batch's MCC in the 10 % predictive interval": inside(next_batch, values[:, after]),
    "true MCC in the 10 % posterior interval": inside(interval, true_mcc),
    "true MCC in the 10 % predictive interval": inside(next_batch, true_mcc),
}
print(f"{RUNS} runs, after {', '.join(map(str, after))} batches:")
for name, hits in shares.items():
    print(f"  {name:<50}{share(hits)}")
late = shares["true MCC in the 10 % predictive interval"][:, after >= 150]
print(f"  {'the same after 150 batches and more':<50}{share(late)}  (Caelen: about 90 %)")


def draw(path):
    import matplotlib

    if path is not None:
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    left.plot(
        np.arange(1, STEPS + 1), of_batch, ".", color="0.7", markersize=3, label="MCC of a batch"
    )
    for ends, colour, name in (
        (predictive, "#56B4E9", "predictive, 100 rows (Caelen's)"),
        (posterior, "#D55E00", "posterior"),
    ):
        left.fill_between(DRAWN_AT, *ends.T, color=colour, label=f"10 % interval, {name}")
    left.axhline(true_mcc, color="black", linestyle="--", linewidth=1, label="true MCC")
    left.set(xlabel="batches", ylabel="MCC", title="One run", ylim=(min(of_batch) - 0.17, None))
    left.legend(fontsize="small", loc="lower right")
    for (name, hits), marker, colour in zip(
        shares.items(), "oDs", ("#0072B2", "#D55E00", "#56B4E9"), strict=True
    ):
        right.plot(after, hits.mean(axis=0), marker=marker, color=colour, label=name)
    right.axhline(LEVEL, color="black", linestyle=":", linewidth=1)
    right.set(xlabel="batches", ylabel="share of the runs", title=f"{RUNS} runs", ylim=(0, 1))
    right.legend(fontsize="small", loc="center right", bbox_to_anchor=(1, 0.45))
    if path is None:
        plt.show()
    else:
        figure.savefig(path, dpi=150)
        print(f"\nPlot written to {path}")


draw(sys.argv[1] if len(sys.argv) > 1 else None)
