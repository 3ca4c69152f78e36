"""
Statistical comparison of models using grid search, in five lines
=================================================================

scikit-learn has an example of that name: four support vector machines, ten times ten folds, and a
long page of code for a corrected t test, its Bayesian version and a region of practical
equivalence. Here it is again.
"""

# %%
# The data and the search are scikit-learn's.

from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.svm import SVC

from skuncertain import compare_cv, search_posterior
from skuncertain.display import ComparisonDisplay, RankDisplay

X, y = make_moons(noise=0.352, random_state=1, n_samples=100)
grid = [
    {"kernel": ["linear"]},
    {"kernel": ["poly"], "degree": [2, 3]},
    {"kernel": ["rbf"]},
]
cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
search = GridSearchCV(SVC(random_state=0), grid, scoring="roc_auc", cv=cv).fit(X, y)

# %%
# The five lines. Repetitions and the test/train ratio are read from ``search.cv``.

analysis = search_posterior(search, rope=0.01, random_state=0)
print(analysis)
results = search.cv_results_
rbf, linear = ([results[f"split{k}_test_score"][i] for k in range(100)] for i in (3, 0))
result = compare_cv(linear, rbf, rope=0.01, n_repeats=10, names=("linear", "rbf"))

# %%
# scikit-learn's page finds P(rbf > linear) = .773, and .432 for "practically equivalent".

print(f"P(rbf > linear)  {compare_cv(linear, rbf, n_repeats=10).p_better:.3f}")
three = (result.p_worse, result.p_equivalent, result.p_better)
print("worse {:.3f}, equivalent {:.3f}, better {:.3f}".format(*three))
ComparisonDisplay.from_comparison(result)

# %%
# All candidates at once, which no pair of them shows: the probability of every rank.

RankDisplay.from_search(analysis, name="Ten times ten folds")

# %%
# What happens if somebody forgets the repetitions? One hundred fold scores are then taken for one
# hundred folds, and the answer is far too sure.

print(f"read as 100 folds: {compare_cv(linear, rbf).p_better:.3f}")
