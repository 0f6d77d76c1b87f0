"""Figures of the gallery in ink that is seen on light and dark pages; thumbnails show their first panel."""

from pathlib import Path

from PIL import Image
from sphinx_gallery.scrapers import matplotlib_scraper

from benchmarks.pictures import STYLE

WIDTH = 800  # pixels: twice what a page shows
PANELS = "gallery/images/panels"
MOST_PANELS = 6  # figures of more are rows of small images, which belong together


def set_ink(gallery_conf, file_name):
    """Prepare matplotlib before each example; sphinx-gallery has reset it."""
    import matplotlib as mpl  # sphinx-gallery has chosen a backend by now

    mpl.rcParams.update(STYLE)


def scrape(block, block_vars, gallery_conf):
    """Save the figures of a block as sphinx-gallery does, and the first panel of the first as thumbnail."""
    import matplotlib.pyplot as plt

    figures, n_before = plt.get_fignums(), len(block_vars["image_path_iterator"])
    if figures and n_before == 0:
        figure, folder = plt.figure(figures[0]), Path(gallery_conf["src_dir"]) / PANELS
        folder.mkdir(parents=True, exist_ok=True)
        name = f"sphx_glr_{Path(block_vars['src_file']).stem}_thumb.png"
        figure.savefig(folder / name, dpi=200, bbox_inches=first_panel(figure))
    return matplotlib_scraper(block, block_vars, gallery_conf)


def first_panel(figure):
    """Return the place of the first panel with its title and labels; None if it has one or very many."""
    figure.canvas.draw()  # lays it out
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    if 1 < len(panels) <= MOST_PANELS:
        return panels[0].get_tightbbox().padded(8).transformed(figure.dpi_scale_trans.inverted())
    return None


def make_thumbnails(app):
    """Replace the thumbnails of sphinx-gallery, which has written them by now."""
    for path in (Path(app.srcdir) / PANELS).glob("*.png"):
        with Image.open(path) as panel:
            panel.thumbnail((WIDTH, WIDTH))
            panel.save(path.parents[1] / "thumb" / path.name)


def setup(app):
    """Register with Sphinx."""
    app.connect("builder-inited", make_thumbnails, priority=900)  # after sphinx-gallery
    return {"parallel_read_safe": True}
