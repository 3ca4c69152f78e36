"""References by short name: ``:func:`compare``` finds ``skuncertain.comparison.compare``.

Every public name has one home, so that pages and docstrings need not spell it out.
"""

import importlib

import skuncertain

HOMES = {
    name: f"skuncertain.{room}.{name}"
    for room in skuncertain._SUBMODULES
    for name in importlib.import_module(f"skuncertain.{room}").__all__
}


def resolve(app, env, node, contnode):
    if node.get("refdomain") != "py":
        return None
    name, dot, member = node["reftarget"].removeprefix("skuncertain.").partition(".")
    if name not in HOMES:
        return None
    target, where = f"{HOMES[name]}{dot}{member}", node.get("refdoc", env.docname)
    return env.get_domain("py").resolve_xref(
        env, where, app.builder, node["reftype"], target, node, contnode
    )


def setup(app):
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
