"""Long names break between their words on narrow pages: Fuzzy|OPF|Classifier|CV, n_|conquerors."""

import re

NAMES = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)|(?<=<h1>)[^<]+(?=<a )')
BETWEEN = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[_./=(])(?=[^\W\d])")


def let_names_break(app, pagename, templatename, context, doctree):
    """Mark the places in the names of a page; what is copied from it is the same."""
    if "body" in context:
        context["body"] = NAMES.sub(lambda name: BETWEEN.sub("<wbr>", name[0]), context["body"])


def setup(app):
    """Register with Sphinx."""
    app.connect("html-page-context", let_names_break)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
