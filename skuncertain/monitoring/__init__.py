"""A model watched batch by batch."""

from skuncertain.monitoring._sequential import (
    SequentialHistory,
    SequentialPosterior,
    SequentialStep,
)

__all__ = [
    "SequentialHistory",
    "SequentialPosterior",
    "SequentialStep",
]
