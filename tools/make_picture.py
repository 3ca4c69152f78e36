"""Draw the picture of the README and the front page: docs/_static/same_scores.svg.

Run: python tools/make_picture.py
"""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from skuncertain import ConfusionCounts
from skuncertain.display import IntervalDisplay

PATH = Path(__file__).resolve().parents[1] / "docs" / "_static" / "same_scores.svg"


def main(path=PATH):
    """Write the same scores of a small and a large test set, with their intervals."""
    table = {"tp": 26, "fn": 0, "fp": 2, "tn": 6}
    counts = {
        "tested on 34 rows": ConfusionCounts.from_binary(**table),
        "tested on 340 rows": ConfusionCounts.from_binary(
            **{cell: 10 * n for cell, n in table.items()}
        ),
    }
    title = "The same scores. How sure are you of them?"
    # Text as text, and no date or random ids: drawn again, the file is the same.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "skuncertain"}):
        display = IntervalDisplay.from_counts(counts, name=title)
        display.figure_.set_size_inches(7.2, 3.6)
        display.ax_.set_xlabel("score, with its 95 % credible interval")
        display.figure_.savefig(path, metadata={"Date": None})
    plt.close(display.figure_)


if __name__ == "__main__":
    main()
