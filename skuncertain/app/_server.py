"""Listening: on loopback unless told, on a port that is free, until Ctrl-C."""

import contextlib
import errno
import logging
import socket
import threading
import webbrowser

from skuncertain._utils.validation import check_bool, check_integer, refuse_if
from skuncertain.app._pages import LOOPBACK, flask, make_app

USUAL_PORT = 8377  # a fixed one, so that links survive the end of the program
_EVERYWHERE = ("", "0.0.0.0", "::")


def run(host, port, open_browser):
    """Serve until interrupted."""
    check_bool("open_browser", open_browser)
    flask()  # says what to install
    from werkzeug.serving import make_server

    # Its log would show what was asked, and a line per request helps nobody.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with listen(host, port) as sock:
        app = make_app(trusted_hosts(host))
        server = make_server(host, sock.getsockname()[1], app, threaded=True, fd=sock.fileno())
        try:
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
