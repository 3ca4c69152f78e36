"""What public functions accept, under the names that their signatures show."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike as ArrayLike

if TYPE_CHECKING:
    from skuncertain.metrics import Metric
    from skuncertain.posteriors import BetaPosterior

LabelLike: TypeAlias = Any  # a label may be of any type that can be compared and hashed
LabelsLike: TypeAlias = Sequence[LabelLike] | ArrayLike
MetricLike: TypeAlias = Union[str, "Metric", Callable[..., Any]]
MetricsLike: TypeAlias = MetricLike | Iterable[MetricLike]
PrevalenceLike: TypeAlias = Union["BetaPosterior", ArrayLike]
PriorLike: TypeAlias = Union[str, float, ArrayLike, "BetaPosterior", Mapping[str, Any]]
RandomStateLike: TypeAlias = int | np.random.RandomState | np.random.Generator | None
FloatOrArray: TypeAlias = float | np.ndarray
