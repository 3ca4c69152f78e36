"""
A cross-validation with intervals
=================================

The cross-validation that you always run, with an interval for every score: by the default method
and by others.
"""

# %%
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from skuncertain import BayesianCrossValidator
from skuncertain.display import FoldDisplay, IntervalDisplay

X, y = load_breast_cancer(return_X_y=True)
bcv = BayesianCrossValidator(GaussianNB(), cv=10, random_state=0).fit(X, y)
print(bcv.interval("f1"))

# %%
# Every dot is a fold of 57 rows. The interval below them is not the spread of the folds: it is
# where the mean performance of models that are trained on 512 rows lies.

FoldDisplay.from_cross_validation(bcv, name="Naive Bayes, ten folds")

# %%
# Five methods. "auto" and "wang_li" pool the counts, and differ in how much a row counts. The t
# intervals look at ten numbers per metric, and are longer.

IntervalDisplay.from_cross_validation(bcv, name="Five methods")

# %%
# The report has the numbers, the question that they answer, and what to beware of.

print(bcv.report())
