"""Figures of wang_li.py, written as PNG files; matplotlib is imported only if one is asked for."""

from pathlib import Path

import numpy as np
from scipy import stats


def _panels(title):
    from matplotlib.figure import Figure  # without pyplot: no display, no global state

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    figure.suptitle(title)
    return figure, figure.subplots(1, 2)


def _save(figure, directory, name):
    path = Path(directory) / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"\nWrote {path.name}.")


def densities(directory, name, title, panels):
    """Simulated estimates of each metric, and two Beta distributions for them."""
    figure, axes = _panels(title)
    for ax, (metric, (simulated, independent, correlated)) in zip(
        axes, panels.items(), strict=True
    ):
        everything = np.concatenate([*simulated.values()])
        x = np.linspace(everything.min() - 0.03, everything.max() + 0.03, 400)
        for colour, (what, values) in zip(("k", "0.6"), simulated.items(), strict=True):
            ax.plot(x, stats.gaussian_kde(values)(x), color=colour, label=f"simulated, {what}")
        ax.plot(x, independent.pdf(x), "C0:", label="Beta, ρ = 0")
        ax.plot(x, correlated.pdf(x), "C1--", label="Beta, ρ = 1/K")
        ax.set(xlabel=f"{metric}, mean of K fold posteriors", ylim=(0, None))
    axes[0].set_ylabel("density")
    axes[0].legend(frameon=False, loc="upper left", fontsize="small")
    _save(figure, directory, name)


def sweep(directory, name, title, weights, sweeps, n_folds):
    """Coverage (two Monte Carlo errors either side) and width by weight."""
    figure, axes = _panels(title)
    for style, (metric, cells) in zip(("-", "--"), sweeps.items(), strict=True):
        coverage, error, width = cells.T
        axes[0].errorbar(weights, coverage, 2 * error, linestyle=style, label=metric)
        axes[1].plot(weights, width, style)  # nearly the same for both
    axes[0].axhline(95, color="0.6", linewidth=1)
    for ax, label in zip(axes, ("coverage, %", "mean width"), strict=True):
        ax.axvline((n_folds + 1) / (2 * n_folds), color="0.6", linestyle=":", linewidth=1)
        ax.set(xlabel="weight ω (dotted line: Wang and Li)", ylabel=label)
    axes[0].legend(frameon=False)
    _save(figure, directory, name)
