"""The web page: one table, one posterior, one sentence, without programming.

``skuncertain app`` on the command line starts it. It needs Flask, which the extra ``app`` brings.
"""

from collections.abc import Sequence
from typing import Any

from skuncertain._utils.address import LOOPBACK, USUAL_HOST
from skuncertain._utils.validation import check_integer
from skuncertain.app._workers import MOST

__all__ = ["create_app", "serve"]


def create_app(*, trusted_hosts: Sequence[str] = LOOPBACK, workers: int = MOST) -> Any:
    """Return the web page as a WSGI application.

    Parameters
    ----------
    trusted_hosts : sequence of str, default=("127.0.0.1", "localhost", "[::1]")
        Names under which the page may be asked for. Others are refused, so that no other site can
        reach it through a name of its own (DNS rebinding).
    workers : int, default=4
        Most processes that compute for this application. They start with the first question, end
        with this process, and are stopped where an answer takes too long. 0 computes in this
        process, one answer at a time and without a time limit: for servers that have one of their
        own, or whose Python cannot be started as a program.

    Returns
    -------
    flask.Flask
        The application. It keeps nothing of what is entered.

    See Also
    --------
    serve : Run it on this computer.

    Examples
    --------
    >>> from skuncertain.app import create_app
    >>> app = create_app(workers=2)
    >>> app.test_client().get("/").status_code
    200
    """
    from skuncertain.app._pages import make_app

    return make_app(tuple(trusted_hosts), check_integer("workers", workers, low=0, high=64))


def serve(host: str = USUAL_HOST, port: int | None = None, open_browser: bool = True) -> None:
    """Run the web page until Ctrl-C.

    Parameters
    ----------
    host : str, default="127.0.0.1"
        Address to listen on. The default can be reached from this computer only.
    port : int, default=None
        Port; 0 is any free one. By default 8377, so that saved links keep working, or any free one
        if it is taken.
    open_browser : bool, default=True
        Whether to open the page in a browser.

    Raises
    ------
    ImportError
        If Flask is not installed.
    OSError
        If the port is taken or the address does not exist; the message is one line.

    See Also
    --------
    create_app : The application itself.

    Examples
    --------
    >>> from skuncertain.app import serve
    >>> serve(open_browser=False)  # doctest: +SKIP
    The page is at http://127.0.0.1:8377/ (Ctrl-C ends it).
    """
    from skuncertain.app._server import run

    run(host, port, open_browser)
