"""Clouds of joint draws: posterior or predictive."""

import pytest

from skuncertain import ConfusionCounts
from skuncertain.display import JointDisplay


def test_predictive_clouds_say_so():
    counts = ConfusionCounts.from_binary(tp=65, fn=15, fp=35, tn=30)
    options = {"prior": "haldane", "n_draws": 2000, "random_state": 0}
    posterior = counts.joint_posterior(["precision", "recall"], **options)
    new = counts.joint_posterior(["precision", "recall"], n=145, **options)
    assert (posterior.n, new.n) == (None, 145)
    assert "n_new=145" in repr(new)
    display = JointDisplay.from_posterior(new)
    assert display.ax_.get_xlabel().replace("\n", " ") == (
        "precision; outline: 95 % predictive region, new test sets of 145 rows"
    )
    assert display.alt_text().startswith("Joint predictive distribution, n = 145, of precision")
    assert JointDisplay.from_posterior(posterior).ax_.get_xlabel().endswith("credible region")
    with pytest.raises(ValueError, match="of one size only"):
        JointDisplay.from_posterior({"a": posterior, "b": new})
