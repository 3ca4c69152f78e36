"""What a page asks for and gets, as JSON could hold it: it may be computed in another process."""

import threading

from skuncertain.app._answers import answered
from skuncertain.app._folds import answer_classifier
from skuncertain.app._forms import Form
from skuncertain.app._plan import answer_plan
from skuncertain.app._two import answer_two
from skuncertain.app._workers import Pool

WORK = {"one": answer_classifier, "two": answer_two, "plan": answer_plan}


def compute(task):
    """Answer of a task.

    Parameters
    ----------
    task : dict
        With ``page``, the ``values`` and ``errors`` of its form, and ``kind`` of a file to be
        downloaded, or None.

    Returns
    -------
    dict
        With ``errors`` of the form, ``classes`` to choose the positive one from, ``answer`` (or
        None) and ``text`` of the file.
    """
    form = Form(task["page"], task["values"])
    form.errors |= task["errors"]
    answer = answered(form, WORK[task["page"]])
    if answer is None:
        return {"errors": form.errors, "classes": form.classes, "answer": None, "text": None}
    text = None
    if task["kind"] is not None:
        report = answer.report
        text = report.to_html() if task["kind"] == "html" else report.to_csv(answer.table)
    found = {"errors": {}, "classes": form.classes}
    return {**found, "answer": answer.to_dict(), "text": text}


def _task(form, kind=None):
    return {"page": form.page, "values": form.values, "errors": form.errors, "kind": kind}


class Desk:
    """Where one application gets its answers.

    Parameters
    ----------
    workers : int
        Number of processes; with 0 this process computes, one answer at a time.
    """

    def __init__(self, workers):
        first = _task(Form("one"))
        name = "skuncertain.app._tasks:compute"
        self.pool = Pool(name, workers, first=first) if workers else None
        self._examples: dict = {}
        self._one_at_a_time = threading.Lock()

    def ask(self, form, kind=None, left=lambda: False):
        """Answer of a form; see `compute`."""
        if self.pool is not None:
            return self.pool.run(_task(form, kind), left)
        with self._one_at_a_time:
            return compute(_task(form, kind))

    def example(self, form):
        """Answer of a page before anything was typed: always the same, so it is kept."""
        with self._one_at_a_time:
            if form.page not in self._examples:
                self._examples[form.page] = compute(_task(form))
            return self._examples[form.page]
