"""
Cross-validation on a dask cluster
==================================

Everything runs through joblib, so another backend is one line, and the counts are the same as on
one core. The cluster here consists of two processes on this machine; for a real one give its
address to ``Client``. Needs ``pip install "skuncertain[dask]"``.
"""

# %%
# Three times five folds of a support vector machine. The function ``main`` is there because the
# workers import this file.

import joblib
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.svm import SVC

from skuncertain import BayesianCrossValidator
from skuncertain.display import FoldDisplay


def main():
    X, y = load_digits(return_X_y=True)
    X, y = X[:900], y[:900]
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    bcv = BayesianCrossValidator(SVC(C=10), cv=cv, metrics=["accuracy", "f1_macro"], random_state=0)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        bcv.fit(X, y)
    counts = bcv.counts_
    print(f"the same counts on one core: {bcv.fit(X, y).counts_ == counts}")
    print(bcv.report())
    FoldDisplay.from_cross_validation(bcv, name="Digits, three times five folds")


if __name__ == "__main__":
    main()
