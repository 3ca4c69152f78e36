"""Cross-validation on a dask cluster: the same counts as on one core.

Needs ``pip install "skuncertain[dask]"``. The cluster here consists of two processes on this
machine; for a real one give its address to ``Client``.
"""

import joblib
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.svm import SVC

from skuncertain import BayesianCrossValidator


def main():
    X, y = load_digits(return_X_y=True)
    model = SVC(C=10)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)
    metrics = ["accuracy", "f1_macro"]
    alone = BayesianCrossValidator(model, cv=cv, metrics=metrics, random_state=0).fit(X, y)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        bcv = BayesianCrossValidator(model, cv=cv, metrics=metrics, random_state=0).fit(X, y)

    print(f"the same counts: {bcv.counts_ == alone.counts_}\n")
    print(bcv.report())


if __name__ == "__main__":  # the workers import this file
    main()
