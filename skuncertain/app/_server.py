"""Listening: on loopback unless told, on a port that is free, until Ctrl-C."""

import contextlib
import errno
import http
import io
import logging
import socket
import sys
import threading
import time
import webbrowser
from urllib.parse import urlsplit

from skuncertain._utils.address import LOOPBACK, USUAL_PORT
from skuncertain._utils.validation import check_bool, check_integer, refuse_if
from skuncertain.app._pages import HEADERS, PROBLEMS, flask, make_app
from skuncertain.app._workers import MOST

_EVERYWHERE = ("", "0.0.0.0", "::")
# Every connection has a thread and a file descriptor, of which some systems give a process 256.
MOST_CONNECTIONS = 200
# Seconds for the headers, for the rest of a request, for a pause in it, and for the answer.
HEAD, BODY, PAUSE, ANSWER = 10.0, 60.0, 10.0, 30.0


def run(host, port, open_browser):
    """Serve until interrupted."""
    check_bool("open_browser", open_browser)
    flask()  # says what to install
    # Its log would show what was asked, and a line per request helps nobody.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with listen(host, port) as sock:
        app = make_app(trusted_hosts(host), MOST)
        pool = app.extensions["skuncertain"].pool
        server = make_server(sock, app)
        try:
            pool.start()
            url = address(host, server.port)
            print(f"The page is at {url} (Ctrl-C ends it).", flush=True)
            if host not in LOOPBACK:
                print("Everyone who can reach this computer can use it.", flush=True)
            if open_browser:  # some browsers only return when they are closed
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:  # before or after it listens for it itself
            pass
        finally:
            server.server_close()
            pool.close()


# --------------------------------------------------------------------------------------------------
# The server: Werkzeug's, with limits


def make_server(sock, app):
    """Server of an application on a socket that listens."""
    from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

    handler = type("Handler", (_Handler, WSGIRequestHandler), {})
    server = type("Server", (_Server, ThreadedWSGIServer), {})
    host, port = sock.getsockname()[:2]
    return server(host, port, app, handler, fd=sock.fileno())


class _Server:
    """Limits the number of connections."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)

    def process_request(self, request, client_address):
        if not self._places.acquire(timeout=1.0):
            with contextlib.suppress(OSError):
                request.settimeout(1.0)
                request.sendall(_plain_response(503))
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # there is no thread that would
            self._places.release()
            raise

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request, client_address):
        """Say what went wrong here; that a connection broke is nobody's fault."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler:
    """Limits the time of a request, and tells nothing about the server."""

    def setup(self):
        super().setup()
        self._input = _PatientInput(self.connection)
        self.rfile = io.BufferedReader(self._input)

    def run_wsgi(self):
        self._input.allow(BODY)
        try:
            urlsplit(self.path)
        except ValueError:
            self.send_error(400)
        else:
            super().run_wsgi()

    def send_response(self, code, message=None):
        """Begin a response, without the name and version of the server."""
        self._input.allow(PAUSE, to_the_end=False)  # nobody needs what still comes
        self.send_response_only(code, message)
        self.send_header("Date", self.date_time_string())

    def send_error(self, code, message=None, explain=None):
        """Answer what is not HTTP."""
        self.close_connection = True
        self.wfile.write(_plain_response(code))

    def log_error(self, *args):
        """Say nothing of clients that are slow or speak something else."""


class _PatientInput(io.RawIOBase):
    """What comes from a socket, until it has taken too long in all."""

    def __init__(self, sock):
        self._sock = sock
        self.allow(HEAD)

    def allow(self, seconds, to_the_end=True):
        """Set when it is too late; unless the input is read `to_the_end`, that is then its end."""
        self._end, self._needed = time.monotonic() + seconds, to_the_end

    def readable(self):
        return True

    def readinto(self, buffer):
        left = self._end - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError("too slow")
            self._sock.settimeout(min(left, PAUSE))
            return self._sock.recv_into(buffer)
        except ConnectionError:  # an end like any other
            return 0
        except TimeoutError:
            if self._needed:
                raise
            return 0
        finally:
            self._sock.settimeout(ANSWER)


def _plain_response(code):
    """Whole response, where no page can be made."""
    body = PROBLEMS.get(code, PROBLEMS[400]).encode()
    fields = {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": len(body),
        "Connection": "close",
        **HEADERS,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    reason = http.HTTPStatus(code).phrase
    return f"HTTP/1.1 {int(code)} {reason}\r\n{head}\r\n".encode() + body


# --------------------------------------------------------------------------------------------------
# The address


def address(host, port):
    """Where a browser on this computer finds the page."""
    name = "127.0.0.1" if host in ("", "0.0.0.0") else "::1" if host == "::" else host
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def listen(host, port):
    """Socket that listens; one line says what is wrong if there cannot be one."""
    rule = "host must be a name or an address, such as '127.0.0.1', got {value}."
    refuse_if(not isinstance(host, str), "host", rule, host)
    if port is None:
        try:
            return _listen(host, USUAL_PORT)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        return _listen(host, 0)
    return _listen(host, check_integer("port", port, low=0, high=65535))


def _listen(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Where there is an exclusive use, SO_REUSEADDR would share the port.
        option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        sock.setsockopt(socket.SOL_SOCKET, option, 1)
        sock.bind((host, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        taken = f"port {port} of {host!r} is taken: choose another one, or 0 for a free one."
        reserved = f"port {port} may not be used by you: choose one from 1024 on."
        other = f"cannot listen on {host!r}: {error.strerror or error}."
        messages = {errno.EADDRINUSE: taken, errno.EACCES: reserved}
        raise OSError(error.errno, messages.get(error.errno, other)) from None
    return sock


def trusted_hosts(host):
    """Names under which the page may be asked for, if it listens on `host`."""
    if host in LOOPBACK:
        return LOOPBACK
    if host not in _EVERYWHERE:
        return (*LOOPBACK, f"[{host}]" if ":" in host else host)
    names = {socket.gethostname(), socket.getfqdn(), *_own_addresses()}
    return (*LOOPBACK, *sorted(f"[{name}]" if ":" in name else name for name in names if name))


def _own_addresses():
    """Addresses of this computer; nothing is sent to find them."""
    found = set()
    with contextlib.suppress(OSError):
        found |= {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None)}
    for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as sock, contextlib.suppress(OSError):
            sock.connect((target, 9))  # only chooses the way that a packet would take
            found.add(sock.getsockname()[0])
    return {name.partition("%")[0] for name in found}
