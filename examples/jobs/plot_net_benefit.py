"""
Is the model of use? Net benefit with intervals
===============================================

Whoever treats from a probability of 20 % on says that a missed case is as bad as four needless
treatments. The net benefit counts in that currency, and a model is of use if it is worth more than
treating all, and more than treating none.
"""

# %%
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from skuncertain.display import NetBenefitDisplay, ThresholdDisplay
from skuncertain.metrics import net_benefit_curve

X, y = make_classification(2000, n_features=10, weights=[0.8], flip_y=0.15, random_state=3)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
models = {
    "logistic": LogisticRegression().fit(X_train, y_train),
    "naive Bayes": GaussianNB().fit(X_train, y_train),
}
probabilities = {name: model.predict_proba(X_test)[:, 1] for name, model in models.items()}

# %%
# The band is pointwise: it is for a threshold that was fixed before. What lies far below 0 is cut
# off, because nobody would use it.

NetBenefitDisplay.from_predictions(y_test, probabilities)

# %%
# The bands of a model and of treating all overlap, yet they come from the same rows. The gain is
# the difference to the better of treating all and none, and is known better than either.

curve = net_benefit_curve(y_test, probabilities["logistic"], thresholds=[0.05, 0.1, 0.2, 0.4, 0.8])
print(curve.to_frame()[["gain", "gain_low", "gain_high", "p_useful"]].round(3))

# %%
# Other metrics along the threshold have a display, too. The threshold in use is marked.

ThresholdDisplay.from_estimator(
    models["logistic"], X_test, y_test, metrics=["precision", "recall"], name="logistic"
)
