"""Draw the picture of the README and the front page: docs/_static/same_scores.svg.

Run: python docs/make_picture.py
"""

from pathlib import Path

import matplotlib

from skuncertain import ConfusionCounts, IntervalDisplay

PATH = Path(__file__).parent / "_static" / "same_scores.svg"


def main(path=PATH):
    """Write the same scores of a small and a large test set, with their intervals."""
    matplotlib.use("Agg")
    # Text as text, and no date or random ids: drawn again, the file is the same.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "skuncertain"})
    table = {"tp": 26, "fn": 0, "fp": 2, "tn": 6}
    counts = {
        "tested on 34 rows": ConfusionCounts.from_binary(**table),
        "tested on 340 rows": ConfusionCounts.from_binary(
            **{cell: 10 * n for cell, n in table.items()}
        ),
    }
    display = IntervalDisplay.from_counts(counts, name="The same scores. How sure are you of them?")
    display.figure_.set_size_inches(7.2, 3.6)
    display.ax_.set_xlabel("score, with its 95 % credible interval")
    display.figure_.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
