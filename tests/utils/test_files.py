"""Files of reports and plots: whole or not at all."""

import errno
import os
import stat
import threading

import numpy as np
import pytest

from skuncertain import ConfusionCounts, interval_report
from skuncertain.coverage._run import Checkpoint
from skuncertain.display import CoverageDisplay

COUNTS = ConfusionCounts([[35, 5], [10, 50]], labels=["cat", "dog"])


def save_report(path):
    interval_report(COUNTS, n_draws=50, random_state=0).save(path)


def save_plot(path):
    pytest.importorskip("matplotlib").use("Agg")
    CoverageDisplay(x=[0.5, 0.6], coverage={"a": [0.9, 0.95]}, level=0.95).save(path)


@pytest.fixture(
    params=[(save_report, "report.html"), (save_plot, "plot.png")], ids=["report", "plot"]
)
def case(request, tmp_path):
    """Function that saves, and where to."""
    save, name = request.param
    return save, tmp_path / name


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("before", [None, b"what was there before"])
def test_a_failure_leaves_everything_as_it_was(case, monkeypatch, step, before):
    save, path = case
    if before is not None:
        path.write_bytes(before)

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="the file was not written, No space left") as caught:
            save(path)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    assert list(path.parent.iterdir()) == ([] if before is None else [path])
    if before is not None:
        assert path.read_bytes() == before
    save(path)
    assert list(path.parent.iterdir()) == [path]
    assert len(path.read_bytes()) > 1000


def test_readers_never_see_half_a_file(case, monkeypatch):
    """Until the last step the old file is there, in one step the new one is."""
    save, path = case
    path.write_bytes(b"old")
    seen, replace = [], os.replace

    def watched(source, target):
        seen.append((path.read_bytes(), len(source.read_bytes())))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    save(path)
    assert seen == [(b"old", path.stat().st_size)]


def test_places_that_cannot_be_written(case, monkeypatch):
    save, path = case
    with pytest.raises(
        FileNotFoundError, match=r"directory does not exist, make it first.*nowhere"
    ):
        save(path.parent / "nowhere" / path.name)
    folder = path.parent / f"folder{path.suffix}"
    folder.mkdir()
    with pytest.raises(IsADirectoryError, match=r"path must name a file, not a directory.*folder"):
        save(folder)
    path.write_bytes(b"kept")
    monkeypatch.setattr(os, "access", lambda *_: False)  # nothing is read-only for root
    with pytest.raises(PermissionError, match="the file exists and is read-only"):
        save(path)
    assert path.read_bytes() == b"kept"


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_modes_and_links_stay(case):
    save, path = case
    ordinary = path.with_name("ordinary")
    ordinary.write_bytes(b"")
    save(path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)
    path.chmod(0o640)
    link = path.with_name(f"link{path.suffix}")
    link.symlink_to(path.name)
    path.write_bytes(b"old")
    save(link)
    assert link.is_symlink()
    assert path.read_bytes() != b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_is_written_through_or_refused(case):
    save, path = case
    link = path.with_name(f"link{path.suffix}")
    link.symlink_to(path.name)  # which is not there yet
    save(link)
    assert link.is_symlink()
    assert len(path.read_bytes()) > 1000
    loop = path.with_name(f"loop{path.suffix}")
    loop.symlink_to(loop.name)
    with pytest.raises(OSError, match="the link leads back to itself") as caught:
        save(loop)
    assert caught.value.errno == errno.ELOOP
    assert loop.is_symlink()
    nowhere = path.with_name(f"nowhere{path.suffix}")
    nowhere.symlink_to("missing/file")
    with pytest.raises(FileNotFoundError, match="directory does not exist"):
        save(nowhere)
    assert nowhere.is_symlink()


def test_a_checkpoint_may_be_a_link(tmp_path):
    link = tmp_path / "link.jsonl"
    link.symlink_to("target.jsonl")
    store = Checkpoint(link)
    store.open({"a": 1}, seed=0)
    store.add("task", (np.zeros(2), []))
    assert link.is_symlink()
    assert len((tmp_path / "target.jsonl").read_text().splitlines()) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_pipes_are_written_to(case):
    save, path = case
    os.mkfifo(path)
    read = []
    thread = threading.Thread(target=lambda: read.append(path.read_bytes()))
    thread.start()
    save(path)
    thread.join(timeout=10)
    assert len(read[0]) > 1000
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_plot_without_a_suffix(tmp_path):
    save_plot(tmp_path / "plot")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
