"""Arrays in, arrays out: Beta functions, roots, integrals, draws, DeLong's variances.

Nothing here knows of metrics, labels or reports.
"""
