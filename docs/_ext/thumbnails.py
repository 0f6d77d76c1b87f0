"""Thumbnails of the gallery that can be read: the first panel of a figure, not all of them in small."""

from pathlib import Path

from PIL import Image
from sphinx_gallery.scrapers import matplotlib_scraper

WIDTH = 800  # pixels: twice what a page shows
PANELS = "gallery/images/panels"
MOST_PANELS = 6  # figures of more are rows of small images, which belong together


def scrape(block, block_vars, gallery_conf):
    """Save the figures of a block as sphinx-gallery does; first, the panel that stands for the example."""
    import matplotlib.pyplot as plt  # sphinx-gallery has chosen a backend by now

    figures = plt.get_fignums()
    if figures and not len(block_vars["image_path_iterator"]):
        folder = Path(gallery_conf["src_dir"]) / PANELS
        folder.mkdir(parents=True, exist_ok=True)
        save_first_panel(
            plt.figure(figures[0]), folder / f"sphx_glr_{Path(block_vars['src_file']).stem}_thumb.png"
        )
    return matplotlib_scraper(block, block_vars, gallery_conf)


def save_first_panel(figure, path):
    """Save the first panel with its title and labels, or the whole figure if it has one or very many."""
    figure.canvas.draw()  # lays it out
    panels = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    box = None
    if 1 < len(panels) <= MOST_PANELS:
        box = panels[0].get_tightbbox().padded(8).transformed(figure.dpi_scale_trans.inverted())
    figure.savefig(path, dpi=200, bbox_inches=box)


def make_thumbnails(app):
    """Replace the thumbnails of sphinx-gallery, which has written them by now."""
    for path in (Path(app.srcdir) / PANELS).glob("*.png"):
        with Image.open(path) as panel:
            thumbnail = panel.convert("RGB")
        thumbnail.thumbnail((WIDTH, WIDTH))
        thumbnail.save(path.parents[1] / "thumb" / path.name)


def setup(app):
    """Register with Sphinx."""
    app.connect("builder-inited", make_thumbnails, priority=900)  # after sphinx-gallery
    return {"parallel_read_safe": True}
