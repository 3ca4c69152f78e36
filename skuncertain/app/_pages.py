"""Requests and responses. Of what was entered, nothing is kept between them."""

import json
import re
import selectors
import socket
import weakref
from importlib.resources import files

from skuncertain._reporting.text import clean
from skuncertain._version import __version__
from skuncertain.app._forms import (
    CELLS,
    FOLD_METHODS,
    KINDS,
    LARGEST_COUNT,
    MODELS,
    MOST_BYTES,
    MOST_NEW_ROWS,
    PRIORS,
    TOO_LONG,
    Form,
    metric_options,
)
from skuncertain.app._tasks import Desk
from skuncertain.app._workers import SECONDS, Stopped

PAGES = {
    "one": ("/", "One classifier"),
    "two": ("/compare", "Two classifiers"),
    "plan": ("/plan", "Sample size"),
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MOST_SENT = 2 * MOST_BYTES + 100_000  # the script sends two letters for the end of a line
_DOWNLOADS = {"html": "text/html; charset=utf-8", "csv": "text/csv; charset=utf-8"}
PROBLEMS = {
    400: "The page cannot read this request.",
    403: "This request came from another site, so it is refused.",
    404: "There is no such page.",
    405: "The page does not answer this kind of request.",
    408: "The request took too long to arrive.",
    411: "The request does not say how long it is.",
    413: TOO_LONG,
    414: "The address of the request is too long.",
    415: "The page reads forms and JSON; this request is of another kind.",
    431: "The request has too many headers.",
    500: "Something went wrong in the program. This should not happen; please report it.",
    503: "The page has too much to do at the moment. Please try again in a minute.",
}
_STOPPED = {
    "late": f"This takes more than {SECONDS:g} seconds, so the page has stopped it. The command "
    "line and the library have no such limit.",
    "busy": "The page is busy with other long calculations. Please try again in a minute.",
    "left": "Nobody waits for this answer.",
}
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


def flask():
    """The module Flask, which is imported where it is needed; or say how to install it."""
    try:
        import flask as module
        import werkzeug  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in ("flask", "werkzeug"):
            raise
        raise ImportError(
            'the web page needs Flask. Install it with: pip install "skuncertain[app]"'
        ) from None
    return module


def make_app(trusted_hosts, workers):
    """Flask application; its processes start with the first question."""
    app = flask().Flask("skuncertain.app", static_url_path="/static")
    app.config.update(
        MAX_CONTENT_LENGTH=_MOST_SENT,
        MAX_FORM_MEMORY_SIZE=_MOST_SENT,
        MAX_FORM_PARTS=100,
    )
    app.before_request(lambda: _check_host(trusted_hosts))
    app.before_request(_check_origin)
    app.after_request(_secured)
    app.register_error_handler(Exception, _problem)
    app.register_error_handler(Stopped, _stopped)
    desk = app.extensions["skuncertain"] = Desk(workers)
    if desk.pool is not None:
        weakref.finalize(app, desk.pool.close)  # at the latest when Python ends
    for page, (path, _) in PAGES.items():
        app.add_url_rule(path, page, _page, defaults={"page": page}, methods=["GET", "POST"])
    page, kind = f"<any({','.join(PAGES)}):page>", f"<any({','.join(_DOWNLOADS)}):kind>"
    app.add_url_rule(f"/answer/{page}", "answer", _answer, methods=["POST"])
    app.add_url_rule(f"/download/{page}/{kind}", "download", _download, methods=["POST"])
    app.add_url_rule("/report.css", "report_css", _report_css)
    return app


# --------------------------------------------------------------------------------------------------
# Safety


def _check_host(trusted):
    """Refuse names that are not ours: a site could give this address a name of its own.

    Flask's TRUSTED_HOSTS does the same, but not for addresses with colons.
    """
    name = re.sub(r":\d+$", "", flask().request.headers.get("Host", "")).lower()
    if name not in {host.lower() for host in trusted}:
        flask().abort(400)


def _check_origin():
    """Refuse what another site sends; browsers say where it comes from and how long it is."""
    request = flask().request
    if request.method in ("GET", "HEAD", "OPTIONS") or request.routing_exception is not None:
        return  # it gets no answer that another site could use
    site = request.headers.get("Sec-Fetch-Site")
    if site is None:  # browsers leave it out where there is neither https nor loopback
        origin = request.headers.get("Origin", "")
        site = "same-origin" if origin == request.host_url.rstrip("/") else "unknown"
    if site != "same-origin":
        flask().abort(403)
    if request.content_length is None:  # it would be cut off at the limit, without a word
        flask().abort(411)


def _secured(response):
    response.headers.update(HEADERS)
    return response


def _problem(error):
    """One sentence, as a page or for the script."""
    code = getattr(error, "code", None)
    if code is None:
        flask().current_app.log_exception((type(error), error, error.__traceback__))
        code = 500
    if isinstance(error.__context__, TimeoutError):  # while the body was read
        code = 408
    allow = getattr(error, "valid_methods", None)
    headers = {"Allow": ", ".join(sorted(allow))} if allow else {}
    return _told(PROBLEMS.get(code, PROBLEMS[400 if code < 500 else 500]), code, headers)


def _told(text, code, headers):
    if flask().request.path.startswith("/answer/"):
        return flask().jsonify(error=text), code, headers
    page = flask().render_template("problem.html", text=text, **_frame(None))
    return page, code, headers


def _stopped(error):
    """Why there is no answer; where a form was sent, with the form."""
    text, form = _STOPPED[error.reason], flask().g.get("form")
    if form is None or flask().request.path.startswith("/answer/"):
        return _told(text, 503, {})
    form.fail("form", text)
    return _show(form, None)[0], 503


def _left():
    """Return a function that says whether the client has closed its connection.

    Only the server that comes with Flask gives its socket; elsewhere the time limit has to do.
    """
    sock = flask().request.environ.get("werkzeug.socket")

    def left():
        if sock is None:
            return False
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(sock, selectors.EVENT_READ)
                return bool(selector.select(0)) and not sock.recv(1, socket.MSG_PEEK)
        except OSError:  # reset
            return True
        except ValueError:  # encrypted: one cannot look ahead
            return False

    return left


# --------------------------------------------------------------------------------------------------
# Pages


def _frame(page):
    """What every page shows around its content."""
    tabs = [(path, title, name == page) for name, (path, title) in PAGES.items()]
    return {"page": page, "tabs": tabs, "version": __version__}


def _form(page, given):
    """Form of a page; one that the page cannot have sent is refused."""
    try:
        form = flask().g.form = Form(page, given)
    except ValueError:
        flask().abort(400)
    return form


def _submitted_form(page):
    """What was sent as a form; a file takes the place of the pasted text."""
    request, problem = flask().request, None
    if request.mimetype not in _FORMS:
        flask().abort(415)
    given, file = request.form.to_dict(), request.files.get("file")
    if len(given) < sum(1 for _ in request.form.items(multi=True)):
        flask().abort(400)  # which of the two?
    if file is not None and file.filename:
        try:
            given["csv"] = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            problem = "The file is not UTF-8 text. Save it as CSV in UTF-8, uncompressed."
    form = _form(page, given)
    form.fail("csv", problem, when=problem is not None)
    return form


def _desk():
    return flask().current_app.extensions["skuncertain"]


def _asked(form, kind=None):
    """Answer of a form, and the text to be downloaded; notes the problems of the form."""
    found = _desk().ask(form, kind, _left())
    form.errors, form.classes = found["errors"], found["classes"]
    return found["answer"], found["text"]


def _show(form, answer):
    page = form.page
    text = flask().render_template(
        f"{page}.html",
        values=form.values,
        errors=form.errors,
        answer=answer,
        classes=form.class_options(),
        metrics=metric_options(page),
        kinds=KINDS,
        priors=PRIORS,
        models=MODELS,
        fold_methods=FOLD_METHODS,
        cells=CELLS,
        limits={"count": LARGEST_COUNT, "n_new": MOST_NEW_ROWS, "bytes": MOST_BYTES},
        **_frame(page),
    )
    return text, 422 if answer is None else 200


def _page(page):
    if flask().request.method != "POST":
        form = Form(page)
        return _show(form, _desk().example(form)["answer"])
    form = _submitted_form(page)
    answer, _ = _asked(form)
    return _show(form, answer)


def _answer(page):
    request = flask().request
    if not request.is_json:
        flask().abort(415)
    try:
        given = json.loads(request.get_data())
    except (ValueError, RecursionError):  # broken, or nested so deeply that it cannot be read
        flask().abort(400)
    if not isinstance(given, dict):
        flask().abort(400)
    form = _form(page, given)
    answer, _ = _asked(form)
    errors = {name: clean(text) for name, text in form.errors.items()}
    return flask().jsonify(errors=errors, classes=form.classes, answer=answer)


def _download(page, kind):
    form = _submitted_form(page)
    answer, text = _asked(form, kind)
    if answer is None:
        return _show(form, None)
    name = f"skuncertain-{form.values['metric']}.{kind}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return text.encode("utf-8", "replace"), headers | {"Content-Type": _DOWNLOADS[kind]}


def _report_css():
    text = files("skuncertain._reporting").joinpath("report.css").read_bytes()
    return text, {"Content-Type": "text/css; charset=utf-8"}
