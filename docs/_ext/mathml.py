"""Formulae as MathML, which browsers render without scripts, requests or a LaTeX installation."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError


def to_mathml(formula, display):
    """Convert a formula; raise an error if the converter does not know a command in it."""
    markup = convert(formula, display=display)
    if "\\" in markup:
        raise ExtensionError(f"a formula has a command that latex2mathml does not know: {formula}")
    return markup


def visit_inline(self, node):
    """Write a formula within a line."""
    self.body.append(to_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(self, node):
    """Write a displayed formula."""
    self.body.append(f'<div class="formula">{to_mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer, and choose it."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
