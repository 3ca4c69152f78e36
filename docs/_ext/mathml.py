"""Formulas as MathML, which every current browser draws: no script, no font, no network."""

from docutils.utils.math import latex2mathml


def _inline(self, node):
    self.body.append(str(latex2mathml.tex2mathml(node.astext(), as_block=False)))
    _skip()


def _block(self, node):
    self.body.append(str(latex2mathml.tex2mathml(node.astext(), as_block=True)))
    _skip()


def _skip():
    from docutils.nodes import SkipNode

    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
