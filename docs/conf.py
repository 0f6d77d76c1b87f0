"""How `make docs` builds the site, from pages, docstrings and the scripts of the gallery."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

project = "pathforest"
author = "The pathforest developers"
copyright = author
version = release = installed_version("pathforest")

extensions = [
    "myst_parser",
    "numpydoc",
    "thumbnails",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "names",
    "playground",
]
# The execution times of the gallery are pages that load scripts from the network.
exclude_patterns = ["_ext", "_templates", "playground", "results", "tests", "**sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True  # a name in a docstring that leads nowhere is an error
nitpick_ignore_regex = [("py:.*", r"sklearn\..*")]  # their manual is not part of this build

# Pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
highlight_options = {"pycon": {"stripnl": True}}  # the empty line that ends a doctest is not shown
copybutton_exclude = ".linenos, .gp, .go"  # prompts and output are not copied

# Docstrings
default_role = "code"
autosummary_generate = True
autodoc_typehints = "none"  # the numpydoc sections describe them
numpydoc_show_class_members = False  # the template lists them
toc_object_entries_show_parents = "hide"

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"^(?!plot_)",
    "within_subsection_order": "gallery_order.by_story",
    "image_scrapers": ("thumbnails.scrape",),
    "reset_modules": ("matplotlib", "thumbnails.set_ink"),
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10_000,  # times of a build say nothing about yours
    "image_srcset": ["2x"],
}

# Theme; everything it needs is in the build, so the site opens from disk and loads nothing from the network
html_theme = "pydata_sphinx_theme"
html_title = "pathforest"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "pathforest", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "idea": [], "choosing": [], "playground": []}
html_context = {"default_mode": "auto"}

# The front page leads to the playground where it is part of the site.
if (HERE / "playground.md").exists():
    tags.add("playground")  # noqa: F821, Sphinx defines it
