"""Settings and fixtures shared by all tests."""

import os

# One thread per process: pytest-xdist already keeps the cores busy, and sums do not
# depend on the number of threads. This must come before numpy is imported.
for _variable in (
    "BLIS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
):
    os.environ.setdefault(_variable, "1")

import random
import re
import shutil
import sys
import warnings

import hypothesis
import pytest

SEED_VARIABLE = "SKUNCERTAIN_TESTS_GLOBAL_RANDOM_SEED"
N_SEEDS = 100

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def _global_random_seeds():
    """Read the seeds from the environment, as scikit-learn does for its own tests."""
    value = os.environ.get(SEED_VARIABLE, "42")
    if value == "any":
        value = str(random.SystemRandom().randrange(N_SEEDS))
        # The workers of pytest-xdist inherit the choice.
        os.environ[SEED_VARIABLE] = value
    elif value == "all":
        value = f"0-{N_SEEDS - 1}"
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", value)
    seeds = [] if match is None else list(range(int(match[1]), int(match[2] or match[1]) + 1))
    if not seeds or seeds[-1] >= N_SEEDS:
        raise pytest.UsageError(
            f"{SEED_VARIABLE} must be 'any', 'all', an integer in 0-{N_SEEDS - 1} or a range "
            f"of them such as '0-9', not {value!r}"
        )
    return seeds


GLOBAL_RANDOM_SEEDS = _global_random_seeds()


# The scope allows the fixture in tests that hypothesis calls many times.
@pytest.fixture(params=GLOBAL_RANDOM_SEEDS, scope="session")
def global_random_seed(request):
    """Seed for every test that draws random numbers; see CONTRIBUTING.md."""
    return request.param


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what a test or a doctest has drawn: pyplot's list of figures is shared by a process."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def chromium():
    """Path of a browser; without one tests are skipped, loudly, and fail where CI is set."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    browser = next((path for path in found if path), None)
    if browser is not None:
        return browser
    told = "there is no Chromium: the pages are NOT tested. tests/install_browser.sh installs it."
    if os.environ.get("CI", "").lower() in ("1", "true", "yes"):
        pytest.fail(told)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(told, stacklevel=1)
    pytest.skip(told)


def pytest_report_header():
    first, last = GLOBAL_RANDOM_SEEDS[0], GLOBAL_RANDOM_SEEDS[-1]
    return f"{SEED_VARIABLE}: {first if first == last else f'{first}-{last}'}"
