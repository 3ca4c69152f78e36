"""The web page as a server: safety, installation, the program."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import tomllib
import urllib.request
from fnmatch import fnmatch
from pathlib import Path

import html5lib
import pytest

pytest.importorskip("flask")

from skuncertain.app import create_app
from skuncertain.app._forms import FIELDS
from skuncertain.app._pages import HEADERS
from skuncertain.app._server import address, listen, trusted_hosts

ROOT = Path(__file__).resolve().parents[2]
PATHS = {"one": "/", "two": "/compare", "plan": "/plan"}
SAME = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def client():
    return create_app().test_client()


def parse(response):
    """Tree of a page that is valid HTML."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(response.get_data(as_text=True))


def text_of(node):
    return "".join(node.itertext()).strip()


# --------------------------------------------------------------------------------------------------
# Safety


def test_headers_on_every_response(client):
    paths = (*PATHS.values(), "/static/app.js", "/static/app.css")
    responses = [client.get(path, buffered=True) for path in paths]
    responses += [client.get("/report.css"), client.get("/nothing"), client.post("/")]
    responses += [client.get("/", headers={"Host": "evil.example"})]
    for response in responses:
        for name, value in HEADERS.items():
            assert response.headers[name] == value
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("page", PATHS)
def test_nothing_inline_and_nothing_from_outside(client, page):
    tree = parse(client.get(PATHS[page]))
    for node in tree.iter():
        for name, value in node.attrib.items():
            assert name != "style"
            assert not str(name).startswith("on")
            if name in ("src", "href", "action", "formaction"):
                assert value.startswith(("/", "#", "data:,"))
                assert not value.startswith("//")
    assert not list(tree.iter("style"))
    assert all(node.get("src") for node in tree.iter("script"))


@pytest.mark.parametrize("page", PATHS)
def test_every_field_has_a_label(client, page):
    tree = parse(client.get(PATHS[page]))
    labelled = {node.get("for") for node in tree.iter("label")}
    inside = {id(child) for label in tree.iter("label") for child in label.iter()}
    ids = [node.get("id") for node in tree.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    fields = [node for node in tree.iter() if node.tag in ("input", "select", "textarea")]
    assert {node.get("name") for node in fields} - {None, "file"} == set(FIELDS[page])
    for node in fields:
        assert node.get("id") in labelled or id(node) in inside
        assert set((node.get("aria-describedby") or "").split()) <= set(ids)


def test_only_trusted_hosts():
    def status(host, path="/static/app.css", **options):
        client = create_app(**options).test_client()
        return client.get(path, headers={"Host": host}, buffered=True).status_code

    for host in ("127.0.0.1:8377", "localhost:1", "[::1]:8377", "localhost", "LocalHost"):
        assert status(host) == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1"):
        assert status(host) == status(host, "/") == status(host, "/nothing") == 400
    assert status("lab.example", trusted_hosts=["lab.example"]) == 200
    assert status("127.0.0.1", trusted_hosts=["lab.example"]) == 400


@pytest.mark.parametrize("path", ["/", "/answer/one", "/download/one/csv"])
def test_posts_of_other_sites_are_refused(client, path):
    for headers in (
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    ):
        assert client.post(path, data=FIELDS["one"], headers=headers).status_code == 403
    # Without https or loopback, browsers send Origin alone.
    headers = {"Origin": "http://localhost"}
    assert client.post("/", data=FIELDS["one"], headers=headers).status_code == 200


def test_requests_that_make_no_sense(client):
    for json in ([], "x", {"unknown": "1"}, {"tp": 26}, {"tp": None}, {"tp": ["1"]}, {"": ""}):
        assert client.post("/answer/one", json=json, headers=SAME).status_code == 400
    broken = {"data": b"{", "content_type": "application/json"}
    assert client.post("/answer/one", headers=SAME, **broken).status_code == 400
    assert client.post("/answer/nothing", json={}, headers=SAME).status_code == 404
    assert client.get("/answer/one").status_code == 405
    assert client.post("/", data={"unknown": "1"}, headers=SAME).status_code == 400
    assert client.get("/static/../_pages.py", buffered=True).status_code == 404


def test_too_large_requests(client):
    big = "x" * 4_100_001
    response = client.post("/answer/one", json={"csv": big}, headers=SAME)
    assert response.status_code == 413
    assert "2 MB" in response.json["error"]
    body = f'--x\r\nContent-Disposition: form-data; name="csv"\r\n\r\n{big}\r\n--x--\r\n'
    kind = "multipart/form-data; boundary=x"
    response = client.post("/", data=body.encode(), content_type=kind, headers=SAME)
    assert response.status_code == 413
    assert "command line" in text_of(parse(response).find("body"))


def test_a_bug_shows_no_traceback(monkeypatch):
    def broken(form):
        raise RuntimeError("secret")

    monkeypatch.setitem(sys.modules["skuncertain.app._pages"].PAGES, "one", ("/", "One", broken))
    app = create_app()
    app.logger.disabled = True
    response = app.test_client().get("/")
    assert response.status_code == 500
    assert "secret" not in response.get_data(as_text=True)
    assert "please report it" in response.get_data(as_text=True)


# --------------------------------------------------------------------------------------------------
# Installation and server


def test_all_files_are_in_the_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["skuncertain.app"]
    folder = ROOT / "skuncertain" / "app"
    found = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    found = [name for name in found if not name.endswith((".py", ".pyc"))]
    assert len(found) >= 8
    assert [name for name in found if not any(fnmatch(name, pattern) for pattern in patterns)] == []


def run_python(code, **options):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **options
    )


def test_without_flask():
    code = """
import sys
sys.modules["{missing}"] = None
from skuncertain.app import create_app, serve
for call in (create_app, serve):
    try:
        call()
    except ImportError as error:
        print(error)
"""
    done = run_python(code.format(missing="flask"))
    assert done.stdout.count('pip install "skuncertain[app]"') == 2, done.stderr
    done = run_python(code.format(missing="jinja2"))  # that would not be the remedy
    assert "pip install" not in done.stdout
    assert "jinja2" in done.stdout


@pytest.fixture
def program(tmp_path):
    """Run the server as a program; yields its first line and the process."""
    started = []

    def start(*arguments, **environment):
        code = f"from skuncertain.app import serve; serve({', '.join(arguments)})"
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        )
        started.append(process)
        return process.stdout.readline(), process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def fetch(url, path="/"):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url.rstrip("/") + path, timeout=60) as response:
        return response.status, response.read().decode()


def url_in(line):
    return re.search(r"http://\S+", line)[0]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
def test_program_serves_and_ends_on_interrupt(program, tmp_path):
    browser, note = tmp_path / "browser", tmp_path / "note"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{note}.new" && mv "{note}.new" "{note}"\n')
    browser.chmod(0o755)
    line, process = program("port=0", BROWSER=f"{browser} %s")
    url = url_in(line)
    assert url.startswith("http://127.0.0.1:")
    status, page = fetch(url)
    assert status == 200
    assert "0.868 to 1.000" in page
    waited = threading.Event()
    for _ in range(600):
        if note.exists():
            break
        waited.wait(0.1)
    assert note.read_text().strip() == url
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")  # and no line per request


def test_taken_port():
    with listen("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port} of '127.0.0.1' is taken") as caught:
            listen("127.0.0.1", port)
        assert "\n" not in str(caught.value)
        done = run_python(
            f"from skuncertain.app import serve; serve(port={port}, open_browser=False)"
        )
        assert done.returncode == 1  # an exception, not Werkzeug's own exit
        assert done.stderr.strip().splitlines()[-1].startswith("OSError")
        assert done.stdout == ""


def test_usual_port_or_a_free_one(monkeypatch):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        monkeypatch.setattr("skuncertain.app._server.USUAL_PORT", sock.getsockname()[1])
        with listen("127.0.0.1", None) as other:
            assert other.getsockname()[1] != sock.getsockname()[1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("127.0.0.1", -1), ValueError),
        (("127.0.0.1", 65536), ValueError),
        (("127.0.0.1", "80"), TypeError),
        (("no.such.host.invalid", 0), OSError),
        ((None, 0), TypeError),
    ],
)
def test_bad_addresses(arguments, error):
    with pytest.raises(error):
        listen(*arguments)


def test_addresses():
    assert address("0.0.0.0", 1) == "http://127.0.0.1:1/"
    assert address("::", 1) == "http://[::1]:1/"
    assert address("lab", 1) == "http://lab:1/"
    assert trusted_hosts("localhost") == trusted_hosts("127.0.0.1")
    assert trusted_hosts("192.0.2.7")[-1] == "192.0.2.7"
    assert socket.gethostname() in trusted_hosts("0.0.0.0")
    assert "" not in trusted_hosts("::")
