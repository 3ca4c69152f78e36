"""All families; importing them registers them."""

from tools.fuzz import (
    analyses as analyses,
    malformed as malformed,
    models as models,
    readers as readers,
    single_matrix as single_matrix,
)
from tools.fuzz.runner import FAMILIES


def describe():
    return f"{len(FAMILIES)} families"
