"""The published sets: what they are, where they come from, and how they get here.

A set is looked for in a folder, then in the cache, then downloaded. It is kept in memory until its content
has been verified, and moves into the cache in one step, so no failure leaves anything behind.

The checksums are of the content, as `content_sha256` defines it, and were taken from copies of the sets, not
from the addresses, which could not be reached: a set that matches holds the same numbers in the same order.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from pathforest._tables.read import as_columns
from pathforest._tables.write import SINKS
from pathforest._utils.checks import demand
from pathforest._utils.files import replace_file
from pathforest.datasets.files import read, read_table

FOLDER = "PATHFOREST_DATA"  # the environment variable that names it
TIMEOUT = 30  # seconds without an answer


def load(name: str, *, return_X_y: bool = False) -> Any:
    """Load a published set, from this machine or from the addresses of its authors; see `fetch`.

    Parameters
    ----------
    name : str
        One of boat, cone_torus, four_class, data1, data2, data3, thyroid_ad, thyroid, breast_tissue,
        landsat_ad, landsat and mpeg7_bas.
    return_X_y : bool, default=False
        Whether to return samples and labels alone.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `data`, `target`, `feature_names`, `target_names` (of the classes in the order of their labels),
        `DESCR` and `filename`. With `return_X_y`, a tuple of `data` and `target` instead.

    Examples
    --------
    >>> from pathforest.datasets import load
    >>> X, y = load("boat", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (100, 2)
    """
    path = fetch(name)
    entry = DATASETS[name]
    table = read(path)
    if return_X_y:
        return table.X, table.y
    classes = np.unique(table.y).tolist()
    return Bunch(
        data=table.X,
        target=table.y,
        feature_names=list(entry.feature_names) or table.feature_names,
        target_names=np.array([entry.classes.get(label, str(label)) for label in classes]),
        DESCR=f"{entry.title}: {entry.shape[0]} samples, {entry.shape[1]} features.\n\n{entry.about}",
        filename=str(path),
    )


def fetch(name: str) -> Path:
    """Find a published set on this machine, or download it.

    Places are tried in this order: the folder that the environment variable `PATHFOREST_DATA` names, or
    `data` if it is not set; the cache, in the folder that `PATHFOREST_CACHE` names or in the user's own; the
    addresses of its authors, for which the extra `datasets` is needed. Only in the folder that
    `PATHFOREST_DATA` names may the content differ from what was published.

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
    demand(name in DATASETS, f"there is no set {name!r}; there are {', '.join(DATASETS)}")
    named = os.environ.get(FOLDER)
    local = Path(named or "data") / f"{name}.csv.gz"
    if local.exists():
        demand(
            named or _is_sound(local, DATASETS[name]),
            f"{local} does not have the content of the published {name}; move it away, or name its "
            f"folder to use it as it is: {FOLDER}={local.parent}",
        )
        return local
    cache = os.environ.get("PATHFOREST_CACHE") or _pooch(local).os_cache("pathforest")
    cached = Path(cache) / local.name
    if not (cached.exists() and _is_sound(cached, DATASETS[name])):
        content = _obtain(name, DATASETS[name], local)
        cached.parent.mkdir(parents=True, exist_ok=True)
        replace_file(cached, content)
    return cached


def _pooch(local: Path) -> Any:
    try:
        import pooch
    except ImportError:
        raise ImportError(
            f"there is no {local}, and a download needs pooch; run pip install 'pathforest[datasets]', "
            f"or put the file into a folder named by {FOLDER}"
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
    failures: dict[str, Exception] = {}
    for origin in entry.origins:
        try:
            return _verified(_parts(origin, local), entry)
        except (OSError, ValueError) as error:
            failures[f"{', '.join(origin.addresses)} ({error})"] = error
    kinds = {ConnectionError if isinstance(error, OSError) else ValueError for error in failures.values()}
    raise min(kinds, key=[ValueError, ConnectionError].index)(
        f"{name} could not be fetched from {'; nor from '.join(failures)}. Try again later, or put "
        f"{local.name} into a folder named by the environment variable {FOLDER}; there is no {local}"
    ) from [*failures.values()][-1]


def _verified(parts: list[bytes], entry: Entry) -> bytes:
    X, y = map(np.concatenate, zip(*map(FORMS[entry.form], parts), strict=True))
    if X.dtype == np.float32:  # the checksums are of decimal numbers, with the digits that a float32 needs
        X = X.astype(str).astype(np.float64)
    layout, columns = as_columns(X, y)
    file = io.BytesIO()
    with SINKS[".csv"](file, layout) as write:
        write(columns)
    file.seek(0)
    # Read back: the checksum is of the numbers as the file has them.
    table = read_table(file, ending="csv")
    found = content_sha256(table.X, table.y)
    demand(found == entry.sha256, f"its content has the checksum {found}; expected was {entry.sha256}")
    return gzip.compress(file.getvalue(), mtime=0)


def _parts(origin: Origin, local: Path) -> list[bytes]:
    # Not streamed: pooch leaves the connection of a streamed answer open when it is an error.
    download, files = _pooch(local).HTTPDownloader(timeout=TIMEOUT, stream=False), []
    for address in origin.addresses:
        out = io.BytesIO()
        download(address, out, None)
        files.append(out.getvalue())
    return [_member(files[0], name) for name in origin.members] if origin.members else files


def _member(data: bytes, name: str) -> bytes:
    """Take a file out of a zip archive, whatever folder it is in."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            paths = [path for path in archive.namelist() if path.rpartition("/")[2] == name]
            demand(paths, f"the archive has no member {name}")
            return archive.read(paths[0])
    except Exception as error:  # of the many kinds that damaged bytes make zipfile raise
        raise ValueError(f"the zip archive is damaged: {error}") from None


def content_sha256(X: np.ndarray, y: np.ndarray) -> str:
    """SHA-256 of the numbers of samples and features, the labels and the samples, row by row."""
    # In little-endian int64 and float64; a float32 stands for its shortest decimal, as a CSV file has it.
    parts = np.array(X.shape, dtype="<i8"), y.astype("<i8"), X.astype("<f8")
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


# The sets as their authors wrote them

TISSUES = {name: code for code, name in enumerate(("car", "fad", "mas", "gla", "con", "adi"), 1)}

Samples = tuple[np.ndarray, np.ndarray]


def _from_file(data: bytes, ending: str) -> Samples:
    table = read_table(io.BytesIO(data), ending=ending)
    demand(table.y is not None, "the file has no labels")
    return table.X, table.y


def _from_numbers(data: bytes, between: str | None = None, codes: Mapping[str, int] | None = None) -> Samples:
    """Read numbers, the label last, as a number or a word; no header."""
    rows = [line.strip().split(between) for line in data.decode().splitlines() if line.strip()]
    unknown = {row[-1] for row in rows} - {*codes} if codes else None
    demand(rows and not unknown, f"the last cells are {sorted(unknown or ())[:3]}, not labels")
    y = [codes[row[-1]] if codes else float(row[-1]) for row in rows]
    return np.array([row[:-1] for row in rows], dtype=float), np.array(y).astype(np.int64)


def _from_breast_tissue(data: bytes) -> Samples:
    """Read an Excel sheet: running number, class, features."""
    try:
        import xlrd
    except ImportError:
        raise ImportError("breast_tissue is an .xls file; run pip install 'pathforest[datasets]'") from None
    try:
        sheets = xlrd.open_workbook(file_contents=data).sheets()
        tables = [[sheet.row_values(i) for i in range(sheet.nrows)] for sheet in sheets]
    except Exception as error:  # xlrd raises whatever a damaged file makes it trip over
        raise ValueError(f"it is not an Excel workbook: {error}") from error
    for names, *rows in filter(None, tables):
        if "Class" in names:
            column = names.index("Class")
            y = [TISSUES.get(str(row[column]).strip().lower(), 0) for row in rows]
            return np.array([row[column + 1 :] for row in rows], dtype=float), np.array(y)
    raise ValueError("no sheet of the workbook has a column 'Class'")


FORMS = {
    "libopf": partial(_from_file, ending="dat"),
    "libsvm": partial(_from_file, ending="libsvm"),
    "numbers": _from_numbers,
    "anomaly": partial(_from_numbers, between=",", codes={"n": 0, "o": 1}),  # normal, outlier
    "breast_tissue": _from_breast_tissue,
}


# Where they are


class Origin(NamedTuple):
    """Where one copy of a set is to be had: files, or one archive with these members."""

    addresses: tuple[str, ...]
    members: tuple[str, ...] = ()


class Entry(NamedTuple):
    """One published set."""

    title: str
    shape: tuple[int, int]
    form: str  # how the original is written, a key of `FORMS`
    origins: tuple[Origin, ...]  # tried in this order
    about: str
    classes: Mapping[int, str] = MappingProxyType({})  # labels without a name stand for themselves
    feature_names: tuple[str, ...] = ()
    sha256: str = ""  # of the content


def _libopf(title: str, shape: tuple[int, int], file: str, about: str, *more: Any) -> Entry:
    """Describe a set of LibOPF's repository, at the commit the checksums belong to, by its two addresses."""
    hosts = "https://raw.githubusercontent.com/jppbsi/LibOPF/", "https://github.com/jppbsi/LibOPF/raw/"
    origins = tuple(Origin((f"{host}7b44910/data/{file}",)) for host in hosts)
    about = f"{about} Distributed with LibOPF, https://github.com/jppbsi/LibOPF."
    return Entry(title, shape, "libopf", origins, about, *more)


def _anomaly(title: str, shape: tuple[int, int], identifier: str, about: str) -> Entry:
    """Describe a set of the anomaly detection benchmark, one file, as it was deposited."""
    doi = f"doi:10.7910/DVN/OPQMVF/{identifier}"
    site = "https://dataverse.harvard.edu/api/access/datafile"
    origin = Origin((f"{site}/:persistentId?persistentId={doi}&format=original",))
    about += (
        " The anomalies come first: shuffle before splitting by position. M. Goldstein, S. Uchida, PLoS ONE "
        "11(4), 2016; doi:10.7910/DVN/OPQMVF."
    )
    return Entry(title, shape, "anomaly", (origin,), about, {0: "normal", 1: "anomaly"})


def _uci(archive: str, folder: str, *files: str) -> tuple[Origin, ...]:
    """Name the archive of the repository's present site, then the single files of its former one."""
    former = f"https://archive.ics.uci.edu/ml/machine-learning-databases/{folder}"
    present = Origin((f"https://archive.ics.uci.edu/static/public/{archive}.zip",), files)
    return present, Origin(tuple(f"{former}/{file}" for file in files))


_FOUR_CLASS = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"

_ENTRIES = {
    "boat": _libopf("Boat", (100, 2), "boat.dat", "A disc and a square inside an ellipse."),
    "cone_torus": _libopf(
        "Cone-torus",
        (400, 2),
        "cone-torus.dat",
        "A cone, half a torus and a normal distribution over both; by L. Kuncheva.",
        {1: "cone", 2: "torus", 3: "normal"},
    ),
    "four_class": Entry(
        "Four-class",
        (862, 2),
        "libsvm",
        (Origin((f"{_FOUR_CLASS}/fourclass",)),),
        "Irregular bands in two classes, at integer coordinates, so that equal distances are common. T. K. "
        f"Ho, E. M. Kleinberg, ICPR 1996. {_FOUR_CLASS}.html",
    ),
    "data1": _libopf("Data1", (1423, 2), "data1.dat", "Two classes at integer coordinates."),
    "data2": _libopf("Data2", (283, 2), "data2.dat", "Two classes at integer coordinates."),
    "data3": _libopf("Data3", (340, 2), "data3.dat", "Five classes at integer coordinates."),
    "thyroid_ad": _anomaly(
        "Thyroid disease, for anomaly detection",
        (6916, 21),
        "CJURKL",
        "The normal samples of the thyroid set and 250 of the others.",
    ),
    "thyroid": Entry(
        "Thyroid disease",
        (7200, 21),
        "numbers",
        _uci("102/thyroid+disease", "thyroid-disease", "ann-train.data", "ann-test.data"),
        "Patients in three very unequal classes, 3 being normal. The first 3772 samples are the source's "
        "training part. https://archive.ics.uci.edu/dataset/102/thyroid+disease",
    ),
    "breast_tissue": Entry(
        "Breast tissue",
        (106, 9),
        "breast_tissue",
        _uci("192/breast+tissue", "00192", "BreastTissue.xls"),
        "Electrical impedance of tissue in six classes. The source's running number is left out: samples "
        "are sorted by class, so it would give the label away. "
        "https://archive.ics.uci.edu/dataset/192/breast+tissue",
        {1: "carcinoma", 2: "fibro-adenoma", 3: "mastopathy", 4: "glandular", 5: "connective", 6: "adipose"},
        ("I0", "PA500", "HFS", "DA", "Area", "A/DA", "Max IP", "DR", "P"),
    ),
    "landsat_ad": _anomaly(
        "Landsat satellite, for anomaly detection",
        (5100, 36),
        "UNGQHH",
        "Soils as normal samples, and 75 of cotton crop and vegetation stubble.",
    ),
    "landsat": Entry(
        "Landsat satellite",
        (6435, 36),
        "numbers",
        _uci("146/statlog+landsat+satellite", "statlog/satimage", "sat.trn", "sat.tst"),
        "Neighbourhoods of 3 x 3 pixels in four spectral bands, by the soil in the middle. The first 4435 "
        "samples are the source's training part. https://archive.ics.uci.edu/dataset/146/statlog+landsat+satellite",
        {1: "red soil", 2: "cotton crop", 3: "grey soil", 4: "damp grey soil"}
        | {5: "soil with vegetation stubble", 7: "very damp grey soil"},
    ),
    "mpeg7_bas": _libopf(
        "MPEG-7 shapes, beam angle statistics",
        (1400, 180),
        "mpeg7_BAS.dat",
        "Outlines of 70 kinds of objects, 20 of each, as angles along the outline.",
    ),
}
_SHA256 = {
    "boat": "8248c4de82ab6b8e1b3978c52a92d1dcfb0846533840a1f92f281ec0f81e726d",
    "cone_torus": "69760af751ab568cbd9138e8d34596fcd28647469b3bc68b29b11d8f4e3a668e",
    "four_class": "6726b6847e2c5ee2e25ae85327a7a18cb809d8f278e4cbe96edc8d46c4d6885b",
    "data1": "bacd7b88aa25104ade6822bb371aa7588fdf76ab15f6e259de48a4db0fcf3fba",
    "data2": "1ffa75b0cf210bc6feca86cdf865988007497b0ddfa350663d88142117ebc7e8",
    "data3": "cfe51e2b3750f6cbe6f457860c3f9baf3a2fe82d884917012a61265759b92a7d",
    "thyroid_ad": "475e1ffe6f2d1e3604308871572f01a2669f869d101eaa03dcf11a19d6b3de2e",
    "thyroid": "50c8069c2168bf59cb7d045c6a1512763494b15edcfa817c2e789dde3fc1e2ec",
    "breast_tissue": "7c173208cf8200749b07bc0d07cd06d35ad3e4e8a1a2d8c062b90f044866a7dd",
    "landsat_ad": "55202747804f2990754c4d425e4f41a8a3c02f4d52370b3d533bf05354cb5930",
    "landsat": "d5f6e2273a11b3fa234eb265dfc2d01147d183d3e73a8952e482c3a315a52fe3",
    "mpeg7_bas": "2b537d184431a4df95b4f2890ae7f9f6f4aa248bffa42de211febdae089e200f",
}
DATASETS = {name: entry._replace(sha256=_SHA256[name]) for name, entry in _ENTRIES.items()}
