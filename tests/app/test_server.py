"""The web page as a server: safety, installation, the program."""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urlencode

import html5lib
import pytest

pytest.importorskip("flask")

from flask import Response

from skuncertain.app import _server, create_app
from skuncertain.app._forms import FIELDS
from skuncertain.app._pages import HEADERS, PROBLEMS
from skuncertain.app._server import address, listen, make_server, trusted_hosts
from skuncertain.app._tasks import WORK
from skuncertain.app._workers import Stopped

ROOT = Path(__file__).resolve().parents[2]
PATHS = {"one": "/", "two": "/compare", "plan": "/plan"}
SAME = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def client():
    return create_app(workers=0).test_client()


def parse(response):
    """Tree of a page that is valid HTML."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(response.get_data(as_text=True))


def by_id(tree, name):
    (node,) = (node for node in tree.iter() if node.get("id") == name)
    return node


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
        client = create_app(workers=0, **options).test_client()
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
    form = FIELDS["one"]
    wrong = [form | more for more in ({"unknown": "1"}, {"tp": 26}, {"tp": None}, {"tp": ["1"]})]
    for sent in ([], "x", {}, {"": ""}, {"tp": "26"}, *wrong):
        assert client.post("/answer/one", json=sent, headers=SAME).status_code == 400
    broken = {"data": b"{", "content_type": "application/json"}
    assert client.post("/answer/one", headers=SAME, **broken).status_code == 400
    assert client.post("/", data=form | {"unknown": "1"}, headers=SAME).status_code == 400
    twice = {"data": form | {"tp": ["26", "1"]}, "headers": SAME}
    assert client.post("/", **twice).status_code == 400
    assert client.get("/static/../_pages.py", buffered=True).status_code == 404


MULTIPART = "multipart/form-data; boundary=x"
FIELD = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
WHOLE_FORM = b"".join(FIELD % (k.encode(), v.encode()) for k, v in FIELDS["one"].items())
BODIES = {  # what was sent as what, and what it is answered with
    "another kind": (b"tp=26", "text/plain", 415),
    "no kind": (b"tp=26", None, 415),
    "JSON instead of a form": (b"{}", "application/json", 415),
    "nothing": (b"\r\n", MULTIPART, 400),
    "no boundary": (WHOLE_FORM + b"--x--\r\n", "multipart/form-data", 400),
    "another boundary": (WHOLE_FORM + b"--x--\r\n", "multipart/form-data; boundary=y", 400),
    "broken header": (WHOLE_FORM[:70], MULTIPART, 400),
    "cut off": (WHOLE_FORM[: len(WHOLE_FORM) // 2], MULTIPART, 400),
    "one field": (b"tp=26", "application/x-www-form-urlencoded", 400),
    "many fields": (FIELD % (b"a", b"1") * 101 + b"--x--\r\n", MULTIPART, 413),
    "compressed": (b"\x1f\x8b\x08\x00\xff", "application/x-www-form-urlencoded", 400),
}


@pytest.mark.parametrize("path", ["/", "/download/one/csv"])
@pytest.mark.parametrize("name", BODIES)
def test_forms_that_cannot_be_read(client, path, name):
    """They are not answered with the numbers of the example."""
    body, kind, code = BODIES[name]
    response = client.post(path, data=body, content_type=kind, headers=SAME)
    assert response.status_code == code
    assert text_of(by_id(parse(response), "answer")) == PROBLEMS[code]


def test_a_whole_form_can_be_read(client):
    """The parts of which the broken ones above are made are not broken themselves."""
    body = WHOLE_FORM + b"--x--\r\n"
    response = client.post("/", data=body, content_type=MULTIPART, headers=SAME)
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"[" * 100_000, "application/json", 400),
        (b'{"tp":' * 100_000, "application/json", 400),
        (b'{"tp": "26"}' + b"}", "application/json", 400),
        (b'{"tp": "\xff"}', "application/json", 400),
        (b"1" * 100_000, "application/json", 400),
        (b"NaN", "application/json", 400),
        (b" ", "application/json", 400),
        (json.dumps(FIELDS["one"]).encode(), "text/plain", 415),
        (json.dumps(FIELDS["one"]).encode(), None, 415),
        (WHOLE_FORM, MULTIPART, 415),
    ],
)
def test_json_that_cannot_be_read(client, body, kind, code):
    response = client.post("/answer/one", data=body, content_type=kind, headers=SAME)
    assert response.status_code == code
    assert response.json == {"error": PROBLEMS[code]}


def test_unknown_pages_and_methods(client):
    for path in ("/nothing", "/static/nothing.js", "/static/%00", "/static/%2e%2e/_pages.py"):
        response = client.get(path, buffered=True)
        assert response.status_code == 404
        assert PROBLEMS[404] in text_of(parse(response).find("body"))
    assert client.post("/answer/nothing", json={}).status_code == 404
    for method, path, allowed in (
        ("PUT", "/", "GET, HEAD, OPTIONS, POST"),
        ("DELETE", "/compare", "GET, HEAD, OPTIONS, POST"),
        ("PATCH", "/static/app.js", "GET, HEAD, OPTIONS"),
        ("BREW", "/", "GET, HEAD, OPTIONS, POST"),
    ):
        response = client.open(path, method=method)
        assert (response.status_code, response.headers["Allow"]) == (405, allowed)
        assert PROBLEMS[405] in text_of(parse(response).find("body"))
    response = client.get("/answer/one")
    assert (response.status_code, response.json) == (405, {"error": PROBLEMS[405]})


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

    monkeypatch.setitem(WORK, "one", broken)
    app = create_app(workers=0)
    app.logger.disabled = True
    response = app.test_client().get("/")
    assert response.status_code == 500
    assert "secret" not in response.get_data(as_text=True)
    assert "please report it" in response.get_data(as_text=True)


# --------------------------------------------------------------------------------------------------
# Connections

SECONDS = 300  # so long a test waits for what must happen
GET = b"GET /static/app.css HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def running():
    """Address of a running server, which computes nothing in other processes."""
    app = create_app(workers=0)
    with listen("127.0.0.1", 0) as sock:
        server = make_server(sock, app)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield ("127.0.0.1", server.port), app
        server.shutdown()
        thread.join()
        server.server_close()


def sent(place, data):
    """Connection on which something was sent."""
    sock = socket.create_connection(place, SECONDS)
    sock.sendall(data)
    return sock


def received(sock):
    """All that comes until the server closes the connection: status, headers, body."""
    parts = []
    while part := sock.recv(65536):
        parts.append(part)
    sock.close()
    head, _, body = b"".join(parts).decode().partition("\r\n\r\n")
    status, *fields = head.split("\r\n")
    return status, dict(field.split(": ", 1) for field in fields), body


def test_the_server_does_not_tell_its_name(running):
    place, _ = running
    not_http = [b"hello\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n"]
    not_http += [b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n"]
    not_http += [b"GET / HTTP/1.1\r\n" + b"".join(b"a%d: 1\r\n" % k for k in range(200)) + b"\r\n"]
    not_http += [GET.replace(b"/static", b"http://[::1/static")]
    for data in (GET, GET.replace(b"/static", b"/nothing"), *not_http):
        with contextlib.suppress(ConnectionResetError):  # it need not read all of it
            status, headers, body = received(sent(place, data))
            assert "Server" not in headers
            assert "Werkzeug" not in str(headers) + body
            assert "Python" not in str(headers) + body
            assert headers.items() >= HEADERS.items()
            if data in not_http:
                assert int(status.split()[1]) in (400, 414, 431, 505)
                assert body in PROBLEMS.values()


def test_half_open_connections_are_closed_and_others_are_answered(running, monkeypatch):
    place, _ = running
    nothing = [sent(place, b"") for _ in range(20)]
    begun = [sent(place, b"GET / HTTP/1.1\r\nHost: loc") for _ in range(20)]
    assert received(sent(place, GET))[0] == "HTTP/1.1 200 OK"
    monkeypatch.setattr(_server, "HEAD", 0.2)
    late = [sent(place, b""), sent(place, b"GET / HTTP/1.1\r\nHost: loc")]
    for sock in late:
        assert sock.recv(1) == b""  # closed by the server
    for sock in (*late, *nothing, *begun):
        sock.close()


def test_slow_headers(running, monkeypatch):
    """A letter now and then does not keep a connection open."""
    place, _ = running
    monkeypatch.setattr(_server, "HEAD", 1.0)
    sock = sent(place, b"GET / HTTP/1.1\r\n")
    sock.settimeout(0.05)
    end = time.monotonic() + SECONDS
    closed = False
    while not closed:
        assert time.monotonic() < end
        try:
            sock.sendall(b"x")
            closed = sock.recv(1) == b""
        except TimeoutError:
            pass
        except OSError:
            closed = True
    sock.close()


def test_bodies_without_a_length(running):
    """They would be cut off at the limit, and the rest of a table would be missing."""
    place, _ = running
    head = (
        "POST / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
    )
    body = urlencode(FIELDS["one"])
    for more in ("", "Transfer-Encoding: chunked\r\n"):
        data = f"{head}{more}\r\n{len(body):x}\r\n{body}\r\n0\r\n\r\n"
        status, _, page = received(sent(place, data.encode()))
        assert status.split()[1] == "411"
        assert PROBLEMS[411] in page
    data = f"{head}Content-Length: {len(body)}\r\n\r\n{body}"
    assert received(sent(place, data.encode()))[0].split()[1] == "200"


@pytest.mark.parametrize("path", ["/", "/answer/one"])
def test_slow_bodies(running, monkeypatch, path):
    place, _ = running
    monkeypatch.setattr(_server, "BODY", 0.2)
    kind = MULTIPART if path == "/" else "application/json"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        "Content-Length: 1000\r\nSec-Fetch-Site: same-origin\r\n\r\n"
    )
    status, _, body = received(sent(place, head.encode() + b"{"))
    assert status.split()[1] == "408"
    assert PROBLEMS[408] in body


def test_clients_that_leave_a_file_behind(running, monkeypatch):
    """A file is closed although its client has reset the connection, or goes on sending."""
    place, app = running
    closed = threading.Semaphore(0)

    class Body:
        def __iter__(self):
            return iter([b"x" * 9])

        def close(self):
            closed.release()

    monkeypatch.setattr(_server, "PAUSE", 0.2)
    app.view_functions["report_css"] = lambda: Response(Body())
    get = GET.replace(b"static/app", b"report")
    for linger in (True, False):
        sock = sent(place, get + b"more" * 20_000)  # than is read at once
        if linger:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
        assert closed.acquire(timeout=SECONDS)
        sock.close()


def test_no_more_connections_than_there_are_places(monkeypatch, request):
    monkeypatch.setattr(_server, "MOST_CONNECTIONS", 2)
    place, _ = request.getfixturevalue("running")
    held = [sent(place, b"G") for _ in range(2)]
    status, headers, body = received(sent(place, b""))
    assert (status, body) == ("HTTP/1.1 503 Service Unavailable", PROBLEMS[503])
    assert headers.items() >= HEADERS.items()
    for sock in held:
        sock.close()
    while received(sent(place, GET))[0] != "HTTP/1.1 200 OK":  # their threads end soon
        pass


def test_clients_that_have_left_are_noticed(running):
    place, app = running
    begun, noticed = threading.Event(), threading.Event()

    class Pool:
        def run(self, task, left):
            assert not left()
            begun.set()
            while not left():
                noticed.wait(0.01)
            noticed.set()
            raise Stopped("left")

    app.extensions["skuncertain"].pool = Pool()
    body = json.dumps(FIELDS["one"])
    head = (
        "POST /answer/one HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nSec-Fetch-Site: same-origin\r\n\r\n"
    )
    sock = sent(place, (head + body).encode())
    assert begun.wait(SECONDS)
    assert not noticed.is_set()
    sock.close()
    assert noticed.wait(SECONDS)


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
