"""The published sets brought to this machine: looked for in a folder, then in the cache, then downloaded.

A set is kept in memory until its content has been verified, and moves into the cache in one step, so no
failure leaves anything behind.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pathforest._tables import delimited
from pathforest._tables.files import FORMATS
from pathforest._tables.npz import DAMAGE
from pathforest._tables.stream import gather_table
from pathforest._tables.table import check_table
from pathforest._tables.whole import layout_of, read
from pathforest._utils.files import replace_file
from pathforest.datasets.published.checksum import content_sha256
from pathforest.datasets.published.originals import read_original
from pathforest.datasets.published.registry import DATASETS, Entry, Origin

FOLDER = "PATHFOREST_DATA"  # the environment variable that names it
TIMEOUT = 30  # seconds without an answer
PACKAGE = "package:"


def fetch(name: str) -> Path:
    """Find a published set on this machine, or download it.

    It is looked for in this order: `<name>.csv.gz` in the folder named by the environment variable
    `PATHFOREST_DATA`, and used as it is, or in `data` if that is not set; then in the cache, in the folder
    named by `PATHFOREST_CACHE` or in the user's own; then at the addresses of its authors, for which the
    extra `datasets` is needed. Only in a folder that you name may the content differ from what was published.

    Parameters
    ----------
    name : str
        One of boat, cone_torus, four_class, data1, data2, data3, thyroid_ad, thyroid, breast_tissue,
        landsat_ad, landsat and mpeg7_bas.

    Returns
    -------
    path : pathlib.Path
        A CSV file with a header, packed with gzip; see `read`.

    Raises
    ------
    ValueError
        If there is no set of that name, or `data` or an address has other content than expected.
    ConnectionError
        If the set is not on this machine and cannot be downloaded; the message says where to put a copy.

    Examples
    --------
    >>> from pathforest.datasets import fetch
    >>> fetch("iris")
    Traceback (most recent call last):
    ValueError: there is no set 'iris'; there are boat, cone_torus, ..., mpeg7_bas
    """
    if name not in DATASETS:
        raise ValueError(f"there is no set {name!r}; there are {', '.join(DATASETS)}")
    file = f"{name}.csv.gz"
    local = _local_folder() / file
    if local.exists():
        if not (os.environ.get(FOLDER) or _is_sound(local, DATASETS[name])):
            raise ValueError(
                f"{local} does not have the content of the published {name}; move it away, or name its "
                f"folder to use it as it is: {FOLDER}={local.parent}"
            )
        return local
    cached = _cache_folder(local) / file
    if not (cached.exists() and _is_sound(cached, DATASETS[name])):
        content = _obtain(name, DATASETS[name], local)
        cached.parent.mkdir(parents=True, exist_ok=True)
        replace_file(cached, content)
    return cached


def _local_folder() -> Path:
    return Path(os.environ.get(FOLDER) or "data")


def _cache_folder(local: Path) -> Path:
    named = os.environ.get("PATHFOREST_CACHE")
    return Path(named) if named else Path(_pooch(local).os_cache("pathforest"))


def _pooch(local: Path) -> Any:
    try:
        import pooch
    except ImportError:
        raise ImportError(
            f"there is no {local}, and a download needs pooch; run pip install 'pathforest[datasets]', "
            "or put the file into a folder named by PATHFOREST_DATA"
        ) from None
    return pooch


def _is_sound(path: Path, entry: Entry) -> bool:
    """Return whether a file has the content that was published."""
    try:
        table = read(path)
    except ValueError:
        return False
    return table.y.dtype.kind == "i" and content_sha256(table.X, table.y) == entry.sha256


def _obtain(name: str, entry: Entry, local: Path) -> bytes:
    """Make a packed CSV file from the first origin that has the right content."""
    failures: list[Exception] = []
    tried = []
    for origin in entry.origins:
        try:
            return _verified(_parts(origin, local), entry)
        except (OSError, ValueError) as error:
            failures.append(error)
            tried.append(f"{', '.join(origin.addresses)} ({error})")
    wrong = any(isinstance(error, ValueError) and not isinstance(error, OSError) for error in failures)
    raise (ValueError if wrong else ConnectionError)(
        f"{name} could not be fetched from {'; nor from '.join(tried)}. Try again later, or put {local.name} "
        f"into a folder named by the environment variable PATHFOREST_DATA; there is no {local}"
    ) from failures[-1]


def _verified(parts: list[bytes], entry: Entry) -> bytes:
    X, y = read_original(parts, entry.form)
    if X.dtype == np.float32:  # the checksums are of decimal numbers, with the digits that a float32 needs
        X = X.astype(str).astype(np.float64)
    layout, columns = layout_of(check_table(X, y, None), "label", FORMATS[".csv"])
    file = io.BytesIO()
    with delimited.sink(file, layout) as sink:
        sink(columns)
    file.seek(0)
    # Read back: the checksum is of the numbers as the file has them.
    table = gather_table(delimited.stream(file), "label")
    found = content_sha256(table.X, table.y)
    if found != entry.sha256:
        raise ValueError(f"its content has the checksum {found}; expected was {entry.sha256}")
    return gzip.compress(file.getvalue(), mtime=0)


def _parts(origin: Origin, local: Path) -> list[bytes]:
    files = [_installed(a) if a.startswith(PACKAGE) else _download(a, local) for a in origin.addresses]
    return [_member(files[0], name) for name in origin.members] if origin.members else files


def _installed(address: str) -> bytes:
    package, _, path = address.removeprefix(PACKAGE).partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {package} is not installed")
    return (Path(spec.submodule_search_locations[0]) / path).read_bytes()


def _download(address: str, local: Path) -> bytes:
    out = io.BytesIO()
    # Not streamed: pooch leaves the connection of a streamed answer open when it is an error.
    _pooch(local).HTTPDownloader(timeout=TIMEOUT, stream=False)(address, out, None)
    return out.getvalue()


def _member(data: bytes, name: str) -> bytes:
    """Take a file out of a zip archive, whatever folder it is in."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            paths = [path for path in archive.namelist() if path.rpartition("/")[2] == name]
            if not paths:
                raise ValueError(f"the archive has no member {name}")
            return archive.read(paths[0])
    except DAMAGE as error:
        raise ValueError(f"the zip archive is damaged: {error}") from None
