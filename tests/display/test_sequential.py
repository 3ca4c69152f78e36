"""SequentialDisplay against the numbers of a watch."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from display_cases import legend_texts, watch  # noqa: E402
from skuncertain.display import SequentialDisplay  # noqa: E402
from skuncertain.exceptions import InvalidParameterError  # noqa: E402


def test_what_is_drawn():
    history = watch().history
    display = SequentialDisplay.from_history(history, line_kwargs={"color": "k"})
    np.testing.assert_array_equal(display.line_.get_ydata(), history.columns["overall"])
    np.testing.assert_array_equal(display.dots_.get_ydata(), history.columns["value"])
    corners = display.band_.get_paths()[0].vertices
    for name in ("low", "high"):
        assert np.isin(history.columns[name], corners[:, 1]).all()
    assert display.threshold_line_.get_ydata()[0] == 0.85
    assert display.alarm_line_.get_xdata()[0] == history.alarm
    assert display.change_line_.get_xdata()[0] == history.change
    texts = legend_texts(display)
    assert "95 % interval at all looks" in texts
    assert f"alarm, batch {history.alarm}" in texts
    text = display.alt_text()
    assert text.startswith("recall over 6 batches")
    assert f"Threshold 0.850: alarm since batch {history.alarm}." in text
    assert f"By batch {history.change} the metric had changed." in text


def test_an_ordinary_watch_of_one_batch():
    display = SequentialDisplay.from_history(watch((90,), anytime=False, threshold=None).history)
    assert display.threshold_line_ is display.alarm_line_ is display.change_line_ is None
    assert "at all looks" not in display.alt_text() + " ".join(legend_texts(display))
    assert len(display.to_frame()) == 1


def test_calm_watch():
    text = SequentialDisplay.from_history(watch((90,) * 4).history).alt_text()
    assert "Threshold 0.850: no alarm." in text


def test_infinite_ends_are_cut():
    display = SequentialDisplay(
        step=[1, 2], overall=[np.inf, 3.0], low=[0.0, 1.0], high=[np.inf, 9.0], level=0.9
    ).plot()
    assert display.ax_.get_ylim()[1] < 10
    assert np.isfinite(display.band_.get_paths()[0].vertices).all()


def test_refusals():
    with pytest.raises(InvalidParameterError, match=r"SequentialPosterior\. Pass its history"):
        SequentialDisplay.from_history(watch())
    with pytest.raises(InvalidParameterError, match="at least one batch"):
        SequentialDisplay.from_history(watch(()).history)
    with pytest.raises(InvalidParameterError, match="low must have one number per batch, 2"):
        SequentialDisplay(step=[1, 2], overall=[1, 1], low=[1], high=[1, 1], level=0.9).plot()
