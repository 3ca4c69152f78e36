"""How many rows a study needs, and how wide its interval will be."""

from skuncertain.planning._comparison import ComparisonSampleSize, comparison_sample_size
from skuncertain.planning._width import (
    ExpectedWidth,
    SampleSize,
    expected_width,
    required_sample_size,
)

__all__ = [
    "ComparisonSampleSize",
    "ExpectedWidth",
    "SampleSize",
    "comparison_sample_size",
    "expected_width",
    "required_sample_size",
]
