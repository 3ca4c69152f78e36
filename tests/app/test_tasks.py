"""Answers of the page that other processes compute."""

import contextlib
import csv
import gc
import io
import json
import os
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

pytest.importorskip("flask")

from skuncertain import ConfusionCounts
from skuncertain._utils.address import USUAL_PORT
from skuncertain.app import _tasks, create_app, serve
from skuncertain.app._forms import FIELDS
from skuncertain.app._workers import SECONDS, Stopped
from skuncertain.exceptions import InvalidParameterError

ROOT = Path(__file__).resolve().parents[2]
PATHS = {"one": "/", "two": "/compare", "plan": "/plan"}
SAME = {"Sec-Fetch-Site": "same-origin"}
TABLE = "y,yhat\n" + "ä,ä\n" * 30 + "b,ä\n" * 7 + "ä,b\n" * 3 + "b,b\n" * 20


@pytest.fixture(scope="module")
def app():
    app = create_app(workers=1)
    yield app
    app.extensions["skuncertain"].pool.close()


@pytest.mark.parametrize("page", PATHS)
def test_the_same_answers_as_in_this_process(app, page):
    forms = [{}, {"level": "x"}, {"metric": "npv", "kind": "hdi"}]
    if page == "one":
        forms += [{"source": "rows", "csv": TABLE, "pos_label": "ä"}]
        forms += [{"metric": "null_accuracy", "show": "predictive"}, {"tp": "0", "fn": "0"}]
    here, there = create_app(workers=0).test_client(), app.test_client()
    for given in forms:
        form = FIELDS[page] | given
        for path, options in (
            (f"/answer/{page}", {"json": form}),
            (PATHS[page], {"data": form}),
            (f"/download/{page}/csv", {"data": form}),
            (f"/download/{page}/html", {"data": form}),
        ):
            expected = here.post(path, headers=SAME, **options)
            found = there.post(path, headers=SAME, **options)
            assert found.status_code == expected.status_code
            assert found.get_data() == expected.get_data()


def test_many_classes_share_their_new_test_sets():
    """The table has what each metric on its own would have."""
    rows = [("a", "a"), ("b", "b"), ("b", "a"), ("c", "c"), ("c", "b")] * 30
    text = "y,z\n" + "".join(f"{y},{z}\n" for y, z in rows)
    form = {"source": "rows", "csv": text, "metric": "accuracy", "show": "predictive"}
    form = FIELDS["one"] | form | {"n_new": "400"}
    client = create_app(workers=0).test_client()
    table = client.post("/download/one/csv", data=form, headers=SAME).get_data(as_text=True)
    shown = {row["name"]: row for row in csv.DictReader(io.StringIO(table))}
    counts = ConfusionCounts.from_predictions(*zip(*rows, strict=True))
    for name in ("accuracy", "balanced_accuracy", "f1_macro", "cohen_kappa", "matthews_corrcoef"):
        ends = counts.posterior(name, random_state=0).predictive(400).interval()
        found = [float(shown[name][f"value_{end}"]) for end in ("low", "high")]
        assert found == pytest.approx(ends, rel=1e-12)
        assert float(shown[name]["value"]) == pytest.approx(counts.score(name), rel=1e-12)


def test_the_example_is_computed_once(monkeypatch):
    calls = []

    def counted(form, work=_tasks.WORK["one"]):
        calls.append(form.page)
        return work(form)

    monkeypatch.setitem(_tasks.WORK, "one", counted)
    client = create_app(workers=0).test_client()
    first, second = client.get("/"), client.get("/")
    assert first.get_data() == second.get_data()
    assert first.status_code == 200
    assert calls == ["one"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [("late", f"more than {SECONDS:g} seconds"), ("busy", "other long calculations")],
)
@pytest.mark.parametrize("page", PATHS)
def test_what_is_stopped_is_told(page, reason, told):
    class Pool:
        def run(self, task, left):
            raise Stopped(reason)

    app = create_app(workers=0)
    app.extensions["skuncertain"].pool = Pool()
    client = app.test_client()
    form = FIELDS[page] | {"level": "0.875"}
    response = client.post(f"/answer/{page}", json=form, headers=SAME)
    assert response.status_code == 503
    assert told in response.json["error"]
    for path in (PATHS[page], f"/download/{page}/html"):
        response = client.post(path, data=form, headers=SAME)
        text = response.get_data(as_text=True)
        assert response.status_code == 503
        assert told in text
        assert 'value="0.875"' in text  # what was typed is still there
        assert "correct the marked fields" not in text  # none is marked
        assert "Content-Disposition" not in response.headers


@pytest.mark.skipif(os.name == "nt", reason="Windows tells other things of processes")
def test_processes_end_with_the_application():
    app = create_app(workers=1)
    client = app.test_client()
    assert client.post("/answer/one", json=FIELDS["one"], headers=SAME).status_code == 200
    (worker,) = app.extensions["skuncertain"].pool._all
    pid = worker._process.pid
    os.kill(pid, 0)
    del app, client, worker
    gc.collect()
    with contextlib.suppress(ProcessLookupError):
        end = time.monotonic() + 300
        while time.monotonic() < end:
            os.kill(pid, 0)
            time.sleep(0.02)
        pytest.fail("it still runs")


def test_another_wsgi_server(app):
    """One that knows nothing of this page, and gives no socket."""

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args):
            pass

    with make_server("127.0.0.1", 0, app, handler_class=Quiet) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        connection = HTTPConnection("127.0.0.1", server.server_port, timeout=300)
        headers = SAME | {"Content-Type": "application/json"}
        connection.request("POST", "/answer/one", json.dumps(FIELDS["one"]), headers)
        response = connection.getresponse()
        assert response.status == 200
        assert "0.868 to 1.000" in json.load(response)["answer"]["span"]
        connection.close()
        thread.join()


@pytest.mark.parametrize("workers", [-1, 1.5, "2", None, 1000])
def test_bad_number_of_workers(workers):
    with pytest.raises(InvalidParameterError, match="workers"):
        create_app(workers=workers)


def test_help_and_documentation_name_one_port(capsys):
    from skuncertain._cli.main import main

    with contextlib.suppress(SystemExit):
        main(["app", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"port, by default {USUAL_PORT}, or a free one if that is taken" in shown
    address = f"http://127.0.0.1:{USUAL_PORT}/"
    pages = [ROOT / "docs" / "app.rst", ROOT / "skuncertain" / "app" / "__init__.py"]
    for path in pages:
        assert address in path.read_text("utf-8")
    assert f"By default {USUAL_PORT}" in serve.__doc__
