"""Figures of the gallery, light and dark, and thumbnails that can be read: the first panel of a figure."""

from pathlib import Path

from PIL import Image
from sphinx_gallery.scrapers import matplotlib_scraper

from benchmarks.dark import PAPER, dark_path, darken, save_both

WIDTH = 800  # pixels: twice what a page shows
PANELS = "gallery/images/panels"
MOST_PANELS = 6  # figures of more are rows of small images, which belong together


def scrape(block, block_vars, gallery_conf):
    """Save the figures of a block as sphinx-gallery does, light and dark; and the panel for its thumbnail."""
    import matplotlib.pyplot as plt  # sphinx-gallery has chosen a backend by now

    figures, paths = [plt.figure(number) for number in plt.get_fignums()], block_vars["image_path_iterator"]
    n_before = len(paths)
    text = matplotlib_scraper(block, block_vars, gallery_conf)
    for number, figure in enumerate(figures, n_before):
        path = Path(paths.paths[number])
        if number == 0:
            folder = Path(gallery_conf["src_dir"]) / PANELS
            folder.mkdir(parents=True, exist_ok=True)
            name = f"sphx_glr_{Path(block_vars['src_file']).stem}_thumb.png"
            save_both(figure, folder / name, dpi=200, bbox_inches=first_panel(figure))
        else:
            darken(figure)
        for scale, ending in ((1, ""), (2, "_2_00x")):
            dark = dark_path(path)
            figure.savefig(dark.with_stem(dark.stem + ending), dpi=scale * figure.dpi, facecolor=PAPER)
    return text


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
            thumbnail = panel.convert("RGB")
        thumbnail.thumbnail((WIDTH, WIDTH))
        thumbnail.save(path.parents[1] / "thumb" / path.name)


def setup(app):
    """Register with Sphinx."""
    app.connect("builder-inited", make_thumbnails, priority=900)  # after sphinx-gallery
    return {"parallel_read_safe": True}
