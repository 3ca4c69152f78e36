"""The few warning classes of skuncertain.

Errors are plain ``ValueError`` and ``TypeError``. A metric that is 0/0 warns with scikit-learn's
own ``sklearn.exceptions.UndefinedMetricWarning``.
"""

__all__ = ["DegenerateIntervalWarning", "SmallSampleWarning"]


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
    """A resampling interval has collapsed to one point, so it says nothing about uncertainty.

    See Also
    --------
    SmallSampleWarning : An interval from too few rows.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain import DegenerateIntervalWarning
    >>> warnings.simplefilter("error", DegenerateIntervalWarning)  # make it an error
    """
