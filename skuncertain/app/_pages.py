"""Requests and responses. Nothing is kept between them."""

import re
from importlib.resources import files

from skuncertain._reporting.text import clean
from skuncertain._version import __version__
from skuncertain.app._answers import answered
from skuncertain.app._forms import (
    CELLS,
    KINDS,
    LARGEST_COUNT,
    MOST_BYTES,
    MOST_NEW_ROWS,
    PRIORS,
    TOO_LONG,
    Form,
    metric_options,
)
from skuncertain.app._one import answer_one
from skuncertain.app._plan import answer_plan
from skuncertain.app._two import answer_two

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAGES = {
    "one": ("/", "One classifier", answer_one),
    "two": ("/compare", "Two classifiers", answer_two),
    "plan": ("/plan", "Sample size", answer_plan),
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
_PROBLEMS = {
    400: "The page cannot read this request.",
    403: "This request came from another site, so it is refused.",
    404: "There is no such page.",
    405: "The page does not answer this kind of request.",
    413: TOO_LONG,
    500: "Something went wrong in the program. This should not happen; please report it.",
}


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


def make_app(trusted_hosts):
    """Flask application."""
    app = flask().Flask("skuncertain.app", static_url_path="/static")
    app.config.update(
        MAX_CONTENT_LENGTH=_MOST_SENT,
        MAX_FORM_MEMORY_SIZE=_MOST_SENT,
        MAX_FORM_PARTS=100,
    )
    app.before_request(lambda: _check_host(trusted_hosts))
    app.before_request(_check_origin)
    app.after_request(_secured)
    for code in _PROBLEMS:
        app.register_error_handler(code, _problem)
    for page, (path, _, _) in PAGES.items():
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
    """Refuse what another site sends; browsers say where a request comes from."""
    request = flask().request
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    site = request.headers.get("Sec-Fetch-Site")
    if site is None:  # browsers leave it out where there is neither https nor loopback
        origin = request.headers.get("Origin", "")
        site = "same-origin" if origin == request.host_url.rstrip("/") else "unknown"
    if site != "same-origin":
        flask().abort(403)


def _secured(response):
    response.headers.update(HEADERS)
    return response


def _problem(error):
    """One sentence, as a page or for the script."""
    code = getattr(error, "code", 500)
    text = _PROBLEMS[code]
    if flask().request.path.startswith("/answer/"):
        return flask().jsonify(error=text), code
    return flask().render_template("problem.html", text=text, **_frame(None)), code


# --------------------------------------------------------------------------------------------------
# Pages


def _frame(page):
    """What every page shows around its content."""
    tabs = [(path, title, name == page) for name, (path, title, _) in PAGES.items()]
    return {"page": page, "tabs": tabs, "version": __version__}


def _form(page, given):
    """Form of a page; what does not belong to it is refused."""
    try:
        form = Form(page, given)
    except ValueError:
        flask().abort(400)
    return form


def _submitted_form(page):
    """What was sent as a form; a file takes the place of the pasted text."""
    request, problem = flask().request, None
    given, file = request.form.to_dict(), request.files.get("file")
    if file is not None and file.filename:
        try:
            given["csv"] = file.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            problem = "The file is not UTF-8 text. Save it as CSV in UTF-8, uncompressed."
    form = _form(page, given)
    form.fail("csv", problem, when=problem is not None)
    return form


def _answered(page, form):
    _, _, work = PAGES[page]
    return answered(form, work)


def _show(page, form, answer):
    text = flask().render_template(
        f"{page}.html",
        values=form.values,
        errors=form.errors,
        answer=answer,
        metrics=metric_options(page),
        kinds=KINDS,
        priors=PRIORS,
        cells=CELLS,
        limits={"count": LARGEST_COUNT, "n_new": MOST_NEW_ROWS, "bytes": MOST_BYTES},
        **_frame(page),
    )
    return text, 422 if answer is None else 200


def _page(page):
    form = _submitted_form(page) if flask().request.method == "POST" else Form(page)
    return _show(page, form, _answered(page, form))


def _answer(page):
    given = flask().request.get_json()
    if not isinstance(given, dict):
        flask().abort(400)
    form = _form(page, given)
    answer = _answered(page, form)
    return flask().jsonify(
        errors={name: clean(text) for name, text in form.errors.items()},
        answer=None if answer is None else answer.to_dict(),
    )


def _download(page, kind):
    form = _submitted_form(page)
    answer = _answered(page, form)
    if answer is None:
        return _show(page, form, None)
    text = answer.report.to_html() if kind == "html" else answer.report.to_csv(answer.table)
    name = f"skuncertain-{form.values['metric']}.{kind}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return text.encode("utf-8", "replace"), headers | {"Content-Type": _DOWNLOADS[kind]}


def _report_css():
    text = files("skuncertain._reporting").joinpath("report.css").read_bytes()
    return text, {"Content-Type": "text/css; charset=utf-8"}
