"""Formulas as MathML, which every current browser draws: no script, no font, no network."""

from docutils.nodes import SkipNode
from docutils.utils.math import MathError, latex2mathml
from sphinx.errors import ExtensionError


def _written(self, node, as_block):
    try:
        self.body.append(str(latex2mathml.tex2mathml(node.astext(), as_block=as_block)))
    except MathError as error:
        raise ExtensionError(f"{node.source}: formula {node.astext()!r}: {error}") from error
    raise SkipNode


def _inline(self, node):
    _written(self, node, as_block=False)


def _block(self, node):
    _written(self, node, as_block=True)


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
