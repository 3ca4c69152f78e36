"""
A test set of one row: predictive against posterior
===================================================

Tötsch and Hoffmann (2021, Fig. 2) take the smallest test set that there can be: one row, and the
classifier was right. What is its accuracy?
"""

# %%
# Caelen (2017) draws new test sets of the same size. With one row their accuracy is 0 or 1 and
# nothing between. That is the *predictive* distribution: what another experiment of this size may
# report. The *posterior* is about the accuracy itself.

import matplotlib.pyplot as plt
import numpy as np

from skuncertain import ConfusionCounts

one = ConfusionCounts.from_binary(tp=1, fn=0, fp=0, tn=0)
posterior = one.posterior("accuracy")  # prior: 1/2 on each side, the default
theirs = one.posterior("accuracy", prior="laplace", model="three_beta")
predictive = posterior.predictive()

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
chances = [predictive.prob(high=0.5), predictive.prob(low=0.5)]
left.bar([0, 1], chances, width=0.08)
left.set(title="predictive, one new row", xlabel="accuracy", ylabel="probability", ylim=(0, 1))
x = np.linspace(0.005, 0.995, 100)
right.plot(x, posterior.pdf(x), label="prior 1/2 on each side (default)")
right.plot(x, theirs.pdf(x), "--", label="three Betas, flat (the paper's)")
right.set(title="posterior", xlabel="accuracy", ylabel="density", ylim=(0, 4))
right.legend()
plt.show()

# %%
# The posterior gives the accuracy 0 no weight, as it must: one row was right. It excludes little
# else.

for name, distribution in (("default", posterior), ("three Betas", theirs)):
    low, high = distribution.interval()
    print(f"{name:12} 95 % interval of the accuracy: {low:.2f} to {high:.2f}")

# %%
# As rows are added the posterior shrinks to a point. The predictive distribution for one row never
# does.

for n in (1, 10, 100, 1000):
    counts = ConfusionCounts.from_binary(tp=n, fn=0, fp=0, tn=0)
    low, high = counts.posterior("accuracy").interval()
    wrong = 1 - counts.posterior("accuracy").predictive(1).mean()
    print(f"{n:5} of {n:<5} right: {low:.3f} to {high:.3f}; P(next row wrong) = {wrong:.4f}")
