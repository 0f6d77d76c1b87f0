"""The directive `playground`: the page of `make playground` within the site, or a note that it is missing."""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

PAGE = Path(__file__).parents[2] / "build" / "playground" / "pathforest-playground.html"

# The page's theme and address go to the frame; the frame's state and height come back.
FRAME = """
<iframe id="playground-frame" src="pathforest-playground.html" title="Playground"></iframe>
<script>
(() => {
  const frame = document.getElementById("playground-frame");
  const theme = () => document.documentElement.dataset.theme;
  const send = (playground) => frame.contentWindow.postMessage({ playground }, "*");
  frame.addEventListener("load", () => send({ theme: theme(), hash: location.hash.slice(1) || undefined }));
  const watch = new MutationObserver(() => send({ theme: theme() }));
  watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow || !data.playground) return;
    const { hash, height } = data.playground;
    if (height) frame.style.height = `${height}px`;
    if (hash !== undefined) history.replaceState(null, "", `#${hash}`);
  });
})();
</script>
<p><a href="pathforest-playground.html">Open it on a page of its own</a>: one file, also from disk.</p>
"""
MISSING = (
    "This copy of the site was built without the compiler for WebAssembly, so the playground is missing. "
    "`make playground` says which packages it needs."
)


class Playground(Directive):
    """Takes no arguments."""

    def run(self):
        """Return the frame, or the note."""
        if not PAGE.is_file():
            return [nodes.note("", nodes.paragraph("", MISSING))]
        return [nodes.raw("", FRAME, format="html")]


def setup(app):
    """Register the directive; the page itself is copied beside the others."""
    app.add_directive("playground", Playground)
    if PAGE.is_file():
        app.config.html_extra_path = [str(PAGE.parent)]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
