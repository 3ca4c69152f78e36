"""
How sure is a leaderboard?
==========================

Five models, the same 450 test rows. Who is first, and with what probability?
"""

# %%
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from skuncertain import compare_paired, leaderboard
from skuncertain.display import IntervalDisplay, RankDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=450, random_state=0)
models = {
    "support vectors": SVC(),
    "neighbours": KNeighborsClassifier(),
    "extra trees": ExtraTreesClassifier(random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "naive Bayes": GaussianNB(),
}
predictions = {name: m.fit(X_train, y_train).predict(X_test) for name, m in models.items()}
board = leaderboard(predictions, y_true=y_test, metric="accuracy", random_state=0)
print(board)

# %%
# Every row of this plot is a model, every column a rank.

RankDisplay.from_leaderboard(board, name="Probability of every rank")

# %%
IntervalDisplay.from_leaderboard(board, name="450 shared rows")

# %%
# Two of them in detail. Only rows on which they disagree say who is better.

print(
    compare_paired(
        y_test,
        predictions["extra trees"],
        predictions["support vectors"],
        names=("extra trees", "support vectors"),
        rope=0.005,
    )
)
