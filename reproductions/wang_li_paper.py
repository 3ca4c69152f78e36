"""Figures printed by Wang and Li (2016), for `wang_li.py`."""

OMEGAS = (0.1, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95, 1.0)

# Figures printed in the paper: coverages in per cent, then mean widths, in the order of METHODS;
# None is illegible in our copy. Table 5 (tree, simulated), 6 (SVM), 7 to 10 (tree, real data).
PAPER = {
    ("tree c02", "precision"): ((99.7, 99.8, 90.1, 99.1), (0.256, 0.236, 0.164, 0.299)),
    ("tree c02", "recall"): ((97.6, 98.1, 92.4, 99.7), (0.254, 0.226, 0.232, 0.423)),
    ("tree c12", "precision"): ((99.2, 96.5, 88.9, 99.1), (0.219, 0.208, 0.157, 0.287)),
    ("tree c12", "recall"): ((98.6, 93.3, 94.5, 99.6), (0.219, 0.204, 0.203, None)),
    ("tree letter", "precision"): ((99.1, 98.0, 90.6, 98.9), (0.238, 0.221, 0.168, 0.306)),
    ("tree letter", "recall"): ((98.2, 95.4, 93.6, 99.5), (0.237, 0.215, 0.220, 0.403)),
    ("tree letter 1000", "precision"): ((97.2, 96.6, 90.9, 98.7), (0.100, 0.100, 0.077, 0.140)),
    ("tree letter 1000", "recall"): ((98.0, 89.7, 85.9, 99.1), (0.103, 0.102, 0.102, 0.186)),
    ("tree magic", "precision"): ((98.9, 98.5, 87.8, 99.2), (0.226, 0.213, 0.165, 0.302)),
    ("tree magic", "recall"): ((98.6, 91.0, 94.2, 99.7), (0.229, 0.211, 0.209, 0.381)),
    ("tree magic 1000", "precision"): ((97.6, 97.0, 88.4, 98.6), (0.096, 0.097, 0.074, 0.135)),
    ("tree magic 1000", "recall"): ((95.2, 95.5, 91.9, 99.2), (0.103, 0.103, 0.095, 0.174)),
    ("svm c02", "precision"): ((99.6, 99.6, 90.1, 99.1), (0.254, 0.234, 0.163, 0.297)),
    ("svm c12", "precision"): ((99.9, 98.6, 91.1, 99.3), (0.204, 0.196, 0.144, 0.262)),
}
# Table 12, letter data, classification tree: coverage and width for each of OMEGAS
PAPER_OMEGA = {
    "precision": (
        (100, 99.8, 99.1, 98.6, 98.2, 97.6, 96.3, 95.5),
        (0.504, 0.262, 0.238, 0.220, 0.205, 0.193, 0.183, 0.178),
    ),
    "recall": (
        (100, 98.8, 98.2, 96.8, 95.6, 92.5, 92.7, 91.5),
        (0.503, 0.261, 0.237, 0.219, 0.204, 0.192, 0.182, 0.178),
    ),
}
# Table 3: macro precision, micro precision, recall
PAPER_POINTS = {
    "tree c12": (0.768, 0.759, 0.758),
    "tree c1.1": (0.919, 0.915, 0.929),
    "tree c.23": (0.689, 0.683, 0.682),
}
# Table 11, average ranks over all 27 cases, in the order of METHODS
PAPER_RANKS = {
    ("precision", "coverage"): (1.6, 2.4, 3.9, 2.0),
    ("precision", "width"): (2.5, 2.2, 1.0, 4.0),
    ("recall", "coverage"): (2.3, 3.1, 3.6, 1.0),
    ("recall", "width"): (2.6, 1.8, 1.4, 4.0),
}
