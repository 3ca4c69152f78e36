"""Populations: functions ``make(rng, class_counts)`` that return X, the rows of class 0 first."""

import numpy as np


def by_label(draw):
    """Population of a function ``draw(rng, n)`` that returns X and y: rows as they come."""

    def make(rng, class_counts):
        found, need = [[] for _ in class_counts], list(class_counts)
        while any(need):
            X, y = draw(rng, 4 * sum(class_counts))
            for c, left in enumerate(need):
                rows = X[y == c][:left]
                found[c].append(rows)
                need[c] -= len(rows)
        return np.vstack([np.vstack(part) for part in found])

    return make


def by_class(draw):
    """Population of a function ``draw(rng, n, c)`` that returns n rows of class c."""

    def make(rng, class_counts):
        return np.vstack([draw(rng, n, c) for c, n in enumerate(class_counts)])

    return make


def logit(rng, score):
    return (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)


# --------------------------------------------------------------------------------------------------
# Those that the rules were chosen on


def gauss(shift, d, k, rho=0.0, scale=1.0):
    """Two normal clouds that differ in k of d features; rho: what features have in common."""

    def draw(rng, n, c):
        X = rng.standard_normal((n, d))
        X = np.sqrt(1 - rho) * X + np.sqrt(rho) * rng.standard_normal((n, 1))
        X *= scale if c else 1.0
        X[:, :k] += shift * c
        return X

    return by_class(draw)


def threshold(noise, d):
    """One feature above 1/2, with wrong labels."""

    def draw(rng, n):
        X = rng.standard_normal((n, d))
        return X, ((X[:, 0] > 0.5) ^ (rng.random(n) < noise)).astype(int)

    return by_label(draw)


def linear(beta, d, k):
    """Logistic regression on k equally good features."""

    def draw(rng, n):
        X = rng.standard_normal((n, d))
        return X, logit(rng, beta * X[:, :k].sum(axis=1))

    return by_label(draw)


def blobs(d, gap, k=3):
    """Blobs around a broad cloud."""

    def draw(rng, n, c):
        X = rng.standard_normal((n, d))
        if c:
            angle = rng.integers(k, size=n) * 2 * np.pi / k
            X[:, :2] = 0.6 * X[:, :2] + gap * np.column_stack([np.cos(angle), np.sin(angle)])
        return X

    return by_class(draw)


# --------------------------------------------------------------------------------------------------
# Fresh ones


def ring(d, radius, width):
    """A ring around a cloud in the first two features."""

    def draw(rng, n, c):
        X = rng.standard_normal((n, d))
        if c:
            angle, r = 2 * np.pi * rng.random(n), radius + width * rng.standard_normal(n)
            X[:, :2] = r[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return X

    return by_class(draw)


def xor(d, strength):
    """Two features that tell something only together, and one that tells a little alone."""

    def draw(rng, n):
        X = rng.uniform(-1, 1, (n, d))
        return X, logit(rng, strength * (np.sign(X[:, 0] * X[:, 1]) + X[:, 2]))

    return by_label(draw)


def skewed(d, k, factor):
    """Log-normal features, k of them larger in class 1."""

    def draw(rng, n, c):
        X = np.exp(rng.standard_normal((n, d)))
        X[:, :k] *= factor if c else 1.0
        return X

    return by_class(draw)


def factors(d, strength):
    """Features that are noisy images of three factors, which decide."""
    loadings = np.random.default_rng(5).standard_normal((3, d))

    def draw(rng, n):
        F = rng.standard_normal((n, 3))
        X = F @ loadings + rng.standard_normal((n, d))
        return X, logit(rng, strength * (F[:, 0] - F[:, 1] + 0.5 * F[:, 2] ** 2 - 0.5))

    return by_label(draw)


def levels(d, strength):
    """Features with four levels and log-odds that add up."""
    effects = np.random.default_rng(6).standard_normal((d, 4))

    def draw(rng, n):
        X = rng.integers(4, size=(n, d))
        return X.astype(float), logit(rng, strength * effects[np.arange(d), X].sum(axis=1))

    return by_label(draw)


def squares(d, cut):
    """Sum of squares above a cut."""

    def draw(rng, n):
        X = rng.standard_normal((n, d))
        return X, logit(rng, 2 * (np.square(X).sum(axis=1) - cut))

    return by_label(draw)


def wavy(d, strength):
    """A smooth function of five features with an interaction."""

    def draw(rng, n):
        X = rng.random((n, d))
        f = np.sin(np.pi * X[:, 0] * X[:, 1]) + 2 * (X[:, 2] - 0.5) ** 2 + X[:, 3] + 0.5 * X[:, 4]
        return X, logit(rng, strength * (f - 1.4))

    return by_label(draw)


def heavy(d, strength):
    """Heavy-tailed features, of which three decide."""

    def draw(rng, n):
        X = rng.standard_t(3, (n, d))
        return X, logit(rng, strength * (X[:, 0] + X[:, 1] - X[:, 2]))

    return by_label(draw)


def votes(d, k, share):
    """Features with two levels, k of which are 1 more often in class 1."""

    def draw(rng, n, c):
        likely = np.full(d, 0.5)
        likely[:k] += share * (c - 0.5)
        return (rng.random((n, d)) < likely).astype(float)

    return by_class(draw)


def grades(d, k, shift):
    """Features with three levels, k of which are higher in class 1."""

    def draw(rng, n, c):
        likely = np.full(d, 0.5)
        likely[:k] += shift * (c - 0.5)
        return rng.binomial(2, likely, (n, d)).astype(float)

    return by_class(draw)


def crescents(d, noise):
    """Two half circles that reach into each other, and features that tell nothing."""

    def draw(rng, n, c):
        X = rng.standard_normal((n, d))
        angle = np.pi * rng.random(n)
        side = 1 - 2 * c
        X[:, :2] = noise * X[:, :2] + np.column_stack(
            [c + side * np.cos(angle), 0.5 * c + side * np.sin(angle)]
        )
        return X

    return by_class(draw)


def clouds(n_classes, d, gap, seed=7):
    """Normal clouds of several classes, of different sizes."""
    rng = np.random.default_rng(seed)
    centres, spread = gap * rng.standard_normal((n_classes, d)), 0.7 + 0.6 * rng.random(n_classes)

    def draw(rng, n, c):
        return centres[c] + spread[c] * rng.standard_normal((n, d))

    return by_class(draw)


def grouped(icc, d, k, strength, shared=0.3):
    """Groups with their own level of the features and of the log-odds: ``make(rng, groups, size)``.

    It returns X, y and the group of every row.
    """
    spread = np.sqrt(icc / (1 - icc)) * np.pi / np.sqrt(3)

    def make(rng, n_groups, size):
        group = np.repeat(np.arange(n_groups), size)
        common = rng.standard_normal((n_groups, d))[group]
        X = np.sqrt(shared) * common + np.sqrt(1 - shared) * rng.standard_normal((group.size, d))
        level = spread * rng.standard_normal(n_groups)[group]
        return X, logit(rng, strength * X[:, :k].sum(axis=1) + level), group

    return make
