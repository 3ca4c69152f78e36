"""All families; importing them registers them."""

from tests.fuzz import analyses as analyses
from tests.fuzz import malformed as malformed
from tests.fuzz import models as models
from tests.fuzz import readers as readers
from tests.fuzz import single_matrix as single_matrix
from tests.fuzz.runner import FAMILIES


def describe():
    return f"{len(FAMILIES)} families"
