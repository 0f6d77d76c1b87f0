"""Images that follow the theme: `x_dark.png` is shown in place of `x.png` in dark mode, if it exists."""

import re
from pathlib import Path

from docutils import nodes
from sphinx_gallery.directives import imgsgnode


def add_dark_images(app, doctree):
    """Put the dark version behind each image that has one; the theme shows one of them."""
    for light in [*doctree.findall(nodes.image), *doctree.findall(imgsgnode)]:
        uri = light["uri"]
        if "://" in uri or not Path(app.env.relfn2path(in_the_dark(uri), app.env.docname)[1]).is_file():
            continue
        dark = light.deepcopy()
        dark["uri"] = in_the_dark(uri)
        if isinstance(light, imgsgnode):
            dark["srcset"] = in_the_dark(light["srcset"])
            # sphinx-gallery writes the first class only.
            light["class"] = [f"{light['class'][0]} only-light"]
            dark["class"] = [f"{dark['class'][0]} only-dark"]
        else:
            light["classes"] = [*light["classes"], "only-light"]
            dark["classes"] = [*dark["classes"], "only-dark"]
        light.parent.insert(light.parent.index(light) + 1, dark)


def in_the_dark(uris):
    """Name the dark versions of images."""
    return re.sub(r"(_2_00x)?\.png", r"_dark\1.png", uris)


def setup(app):
    """Register with Sphinx, before it collects the images of a page."""
    app.connect("doctree-read", add_dark_images, priority=400)
    return {"parallel_read_safe": True}
