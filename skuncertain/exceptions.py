"""The errors that users may catch, and the warnings that they may filter.

A wrong argument is an :class:`InvalidParameterError`, which is both a ``ValueError`` and a
``TypeError``. A metric that is 0/0 warns with scikit-learn's own
``sklearn.exceptions.UndefinedMetricWarning``.
"""

__all__ = [
    "DegenerateIntervalWarning",
    "FewDrawsWarning",
    "FoldDisagreementWarning",
    "InvalidParameterError",
    "SmallSampleWarning",
    "TableFileError",
]


class _ExplainedError(ValueError):
    """An error that knows which parameter it is about, and what to do about it."""

    def __init__(self, message: str, parameter: str = "", remedy: str = "") -> None:
        super().__init__(f"{message} {remedy}" if remedy else message)
        self.message, self.parameter, self.remedy = message, parameter, remedy

    def __reduce__(self):  # so that it comes back from another process
        return type(self), (self.message, self.parameter, self.remedy)


class InvalidParameterError(_ExplainedError, TypeError):
    """An argument that cannot be used; the message names the rule, the value and the remedy.

    Parameters
    ----------
    message : str
        What is wrong.
    parameter : str
        Name of the parameter.
    remedy : str, default=""
        What to do about it, in terms of Python; it is the end of the text of the error.

    See Also
    --------
    TableFileError : A file that cannot be read.

    Examples
    --------
    >>> from skuncertain import ConfusionCounts
    >>> from skuncertain.exceptions import InvalidParameterError
    >>> try:
    ...     ConfusionCounts.from_binary(tp=26, fn=0, fp=2, tn=6).posterior("recall").interval(95)
    ... except InvalidParameterError as error:
    ...     print(error.parameter, "|", error)
    level | level must be a number in (0, 1), got 95. Did you mean 0.95?
    """

    def __init__(self, message: str, parameter: str, remedy: str = "") -> None:
        super().__init__(message, parameter, remedy)


class TableFileError(_ExplainedError):
    """A file that cannot be read as a table; the message says where and why.

    Parameters
    ----------
    message : str
        What is wrong.
    parameter : str, default=""
        Name of the parameter that could help, if there is one.
    remedy : str, default=""
        How it helps, in terms of Python; it is the end of the text of the error.

    See Also
    --------
    InvalidParameterError : A wrong argument.

    Examples
    --------
    >>> from skuncertain.exceptions import TableFileError
    >>> issubclass(TableFileError, ValueError)
    True
    """


class SmallSampleWarning(UserWarning):
    """An interval rests on so few rows that its coverage is known to suffer.

    See Also
    --------
    DegenerateIntervalWarning : An interval without width.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain.exceptions import SmallSampleWarning
    >>> warnings.simplefilter("error", SmallSampleWarning)  # make it an error
    """


class DegenerateIntervalWarning(UserWarning):
    """An interval says little about uncertainty: it is one point, or was cut off at a range.

    Resampling intervals collapse when all rows are alike; t intervals collapse when all folds
    agree, and are cut off where they would extend beyond the range of the metric.

    See Also
    --------
    SmallSampleWarning : An interval from too few rows.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain.exceptions import DegenerateIntervalWarning
    >>> warnings.simplefilter("error", DegenerateIntervalWarning)  # make it an error
    """


class FewDrawsWarning(UserWarning):
    """A quantile far out in the tail of a posterior rests on few draws.

    See Also
    --------
    SmallSampleWarning : An interval from too few rows.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain.exceptions import FewDrawsWarning
    >>> warnings.simplefilter("error", FewDrawsWarning)  # make it an error
    """


class FoldDisagreementWarning(UserWarning):
    """The folds of a cross-validation disagree more than sampling explains.

    See Also
    --------
    fold_posterior : Its ``diagnostics`` hold the figures.

    Examples
    --------
    >>> import warnings
    >>> from skuncertain.exceptions import FoldDisagreementWarning
    >>> warnings.simplefilter("error", FoldDisagreementWarning)  # make it an error
    """
