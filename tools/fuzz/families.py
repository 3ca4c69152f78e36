"""All families; importing them registers them."""

from tools.fuzz import (
    analyses as analyses,
    extremes as extremes,
    grouped as grouped,
    inverses as inverses,
    malformed as malformed,
    mirrored as mirrored,
    models as models,
    outputs as outputs,
    readers as readers,
    shortest as shortest,
    single_matrix as single_matrix,
    spellings as spellings,
)
from tools.fuzz.runner import FAMILIES


def describe():
    return f"{len(FAMILIES)} families"
