"""
A grid search that takes the simplest of the equals
===================================================

``GridSearchCV`` takes the candidate with the highest mean score. Often others are as good, and some
of them are much simpler. ``refit=simplest_equivalent(...)`` takes the simplest of those that are as
good.
"""

# %%
# How many principal components does a support vector machine need for digits? 600 rows to train,
# 1197 to see afterwards what the choice was worth.

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from skuncertain import ConfusionCountsScorer, search_posterior, simplest_equivalent
from skuncertain.display import IntervalDisplay, RankDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=600, random_state=0)

pipeline = Pipeline([("pca", PCA(random_state=0)), ("svc", SVC())])
grid = {"pca__n_components": [5, 8, 12, 16, 24, 32, 48]}
scoring = ConfusionCountsScorer(metrics=["accuracy"])
search = GridSearchCV(pipeline, grid, scoring=scoring, refit="accuracy", cv=10)
analysis = search_posterior(search.fit(X_train, y_train), metric="accuracy", random_state=0)
print(analysis)

# %%
# Every candidate with its interval. The selected one is marked.

IntervalDisplay.from_search(analysis, name="Principal components")

# %%
# The probability of every rank: the first places are open. The best of many is partly the luckiest,
# and these probabilities allow for that.

RankDisplay.from_search(analysis, name="Probability of every rank")

# %%
# One point of accuracy does not matter here, so ``rope=0.01``. The rule takes the fewest components
# among the candidates whose mean is not lower by more than that (``as_good``). Who asks for more,
# says ``probability=0.9``: the candidate is then within the point with that probability.

rule = simplest_equivalent("accuracy", rope=0.01, complexity="pca__n_components")
careful = GridSearchCV(pipeline, grid, scoring=scoring, refit=rule, cv=10).fit(X_train, y_train)

for name, one in (("highest mean", search), ("simplest of the equals", careful)):
    chosen, score = one.best_params_["pca__n_components"], one.best_estimator_.score(X_test, y_test)
    print(f"{name:24}{chosen:3} components, accuracy {score:.3f} on 1197 new rows")
