"""The few warning classes of skuncertain.

Errors are plain ``ValueError`` and ``TypeError``. A metric that is 0/0 warns with scikit-learn's
own ``sklearn.exceptions.UndefinedMetricWarning``.
"""

__all__ = ["DegenerateIntervalWarning", "FoldDisagreementWarning", "SmallSampleWarning"]


class SmallSampleWarning(UserWarning):
    """An interval rests on so few rows that its coverage is known to suffer.

    See Also
    --------
    DegenerateIntervalWarning : An interval without width.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain import SmallSampleWarning
    >>> warnings.simplefilter("error", SmallSampleWarning)  # make it an error
    """


class DegenerateIntervalWarning(UserWarning):
    """An interval is no statement about uncertainty: collapsed to one point, or out of range.

    Resampling intervals collapse when nothing else was observed; t intervals collapse when all
    folds agree, and know no limits.

    See Also
    --------
    SmallSampleWarning : An interval from too few rows.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain import DegenerateIntervalWarning
    >>> warnings.simplefilter("error", DegenerateIntervalWarning)  # make it an error
    """


class FoldDisagreementWarning(UserWarning):
    """The folds of a cross-validation disagree more than sampling explains.

    See Also
    --------
    fold_posterior : Its ``diagnostics`` hold the figures.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain import FoldDisagreementWarning
    >>> warnings.simplefilter("error", FoldDisagreementWarning)  # make it an error
    """
