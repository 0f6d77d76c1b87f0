"""Where an estimator is documented, for the link in its picture in a notebook."""

from __future__ import annotations

from functools import cache
from importlib.metadata import metadata


class DocumentedEstimator:
    """An estimator whose HTML picture links to its page on our site."""

    _doc_link_module = "pathforest"

    @property
    def _doc_link_template(self) -> str:
        """Address of the page; empty, which shows no link, if the package does not say where its site is."""
        site = find_site()
        room = "pathforest.dask" if type(self).__module__.startswith("pathforest.dask.") else "pathforest"
        return site and f"{site}/api/generated/{room}.{type(self).__name__}.html"


@cache
def find_site() -> str:
    """Return the address that pyproject.toml has under [project.urls] as Documentation, or nothing."""
    urls = (entry.split(", ", 1) for entry in metadata("pathforest").get_all("Project-URL") or ())
    return dict(urls).get("Documentation", "").rstrip("/")
