"""The short demonstration behind ``skuncertain demo``."""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skuncertain.metrics._counts import ConfusionCounts
from skuncertain.metrics._report_parts import how_computed
from skuncertain.model_selection._cross_validator import BayesianCrossValidator


def demo():
    """Evaluate a classifier as everybody does, and say how sure the scores are."""
    # An ordinary scikit-learn evaluation: a third of the data set is held out.
    X, y = load_breast_cancer(return_X_y=True)
    labels = ["malignant", "benign"]
    y = [labels[k] for k in y]
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)

    counts = ConfusionCounts.from_predictions(y_test, model.predict(X_test), pos_label="malignant")

    print("Logistic regression on scikit-learn's breast cancer data, tested on held-out rows.\n")
    print(counts)
    print(
        "\nEvery score with its 95 % credible interval: where the true value lies, given these "
        "rows.\n"
    )
    print(f"{'metric':<22}{'score':>7}   {'95 % interval':<16}  computed")
    for name in ("accuracy", "precision", "recall", "f1", "balanced_accuracy", "matthews_corrcoef"):
        posterior = counts.posterior(name)
        low, high = posterior.interval()
        how = how_computed(posterior)
        print(f"{name:<22}{counts.score(name):>7.3f}   {low:.3f} to {high:.3f}    {how}")

    above = counts.posterior("recall").prob(0.9, 1.0)
    print(f"\nProbability that recall is above 0.9: {above:.2f}")
    low, high = counts.posterior("precision", prevalence=0.01).interval()
    print(
        "The same classifier where 1 % have a malignant tumour (here it is "
        f"{counts.score('prevalence'):.0%}):\nprecision {low:.2f} to {high:.2f} instead of "
        f"{counts.posterior('precision').interval().low:.2f} to "
        f"{counts.posterior('precision').interval().high:.2f}."
    )

    print("\nThe same model in 10-fold cross-validation, all rows:\n")
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    print(BayesianCrossValidator(pipeline, cv=10, pos_label="malignant").fit(X, y).report())
