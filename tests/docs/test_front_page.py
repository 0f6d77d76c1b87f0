"""The README and the front page of the site say what was measured, and show what the models answer."""

import base64
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README, FRONT = ROOT / "README.md", ROOT / "docs" / "index.md"
ACCURACY, FEW, CLUSTERS, SPEED = (
    ROOT / "docs" / name
    for name in (
        "guide/fuzzy_cv.md",
        "guide/semi_supervised.md",
        "guide/clustering.md",
        "developer/benchmarks.md",
    )
)
METHODS = {
    "pathforest": "**FuzzyOPFClassifierCV**, default",
    "kNN": "kNN, tuned",
    "SVM-RBF": "SVM-RBF, tuned",
    "random forest": "random forest",
}


def rows(page, table=0):
    """Return the cells of a table of a page, by the first cell of each row."""
    tables = re.findall(r"(?:^\|.*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE)
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in tables[table].splitlines()]
    return {cells[0]: cells[1:] for cells in lines}


def table_with(page, words):
    """Return the first table of a page that has a row of this name."""
    tables = range(len(re.findall(r"(?:^\|.*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE)))
    return next(found for found in (rows(page, table) for table in tables) if words in found)


def plain(cell):
    """Return the number of a cell without its marks and remarks."""
    return cell.replace("*", "").split(",")[0]


ACCURATE = table_with(ACCURACY, METHODS["pathforest"])
GLANCE = {
    re.sub(r"\[(.*?)\]\(.*?\)", r"\1", name): cells for name, cells in table_with(FRONT, "10 % wrong").items()
}


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ("accuracy in %, 0 % of labels wrong", 0),
        ("10 % wrong", 1),
        ("20 % wrong", 2),
        ("log loss, 20 % wrong", 8),
        ("seconds to tune, 20 % wrong", 11),
    ],
)
def test_the_table_at_a_glance_has_the_values_of_the_report(row, column):
    found = [plain(cell) for cell in GLANCE[row][: len(METHODS)]]
    assert found == [ACCURATE[name][column] for name in METHODS.values()]


def test_the_table_at_a_glance_has_the_values_of_the_other_studies():
    few, clusters = table_with(FEW, '`"balanced"`'), table_with(CLUSTERS, "mean of 14 shapes")
    for row, column in (("few labels: accuracy in % with 2 % of them", 0), ("with 10 %", 2)):
        ours, svm, spreading = (plain(GLANCE[row][i]) for i in (0, 2, 5))
        assert ours == few['`"balanced"`'][column]
        assert svm == few["`SVC`, labelled only"][column]
        assert spreading == few['`LabelSpreading(kernel="knn")`'][column]
    for row, source in (
        ("clusters in 14 shapes, adjusted Rand index", "mean of 14 shapes"),
        ("in 19 tables", "mean of 19 tables"),
    ):
        assert [plain(GLANCE[row][i]) for i in (0, 4)] == [plain(clusters[source][i]) for i in (0, 4)]


@pytest.mark.parametrize("row", list(GLANCE)[2:11])
def test_bold_is_the_best_of_its_row(row):
    values = {float(plain(cell)): "**" in cell for cell in GLANCE[row] if cell != "–"}
    best = min(values) if row.startswith(("log loss", "seconds")) else max(values)
    assert [value for value, bold in values.items() if bold] == [best]


@pytest.mark.parametrize("page", [README, FRONT], ids=lambda page: page.name)
def test_the_three_numbers_are_those_of_the_reports(page):
    text = " ".join(page.read_text(encoding="utf-8").split())
    ours, forest, svm, opf = (
        ACCURATE[name][2] for name in (METHODS["pathforest"], "random forest", "SVM-RBF, tuned", "OPF")
    )
    assert f"{ours} %" in text
    assert f"andom forest {forest}, SVM-RBF {svm}, plain OPF {opf}" in text
    speed = SPEED.read_text(encoding="utf-8")
    found = re.search(
        r"\| OPFClassifier.fit +\| 20,000 x 20 +\| (\S+ s) +\| faiss kNN, k = 10 +\| (\S+ s)", speed
    )
    assert all(seconds in text for seconds in found.groups())
    times = re.search(r"OPFython takes (\d+) times as long", speed)[1]
    assert f"takes {times} times as long" in text


def test_the_mean_of_svm_and_random_forest_is_told():
    told = re.search(r"\(([\d.]+), ([\d.]+) and ([\d.]+)\)", FRONT.read_text(encoding="utf-8"))
    assert list(told.groups()) == ACCURATE["mean of SVM and random forest"][:3]


def test_migration_pages_have_the_times_of_the_benchmark():
    table = table_with(SPEED, "OPFython")
    fit, predict = (
        sum(float(cell.split()[0]) for cell in table[name][:2]) for name in ("OPFython", "pathforest")
    )
    page = (ROOT / "docs" / "coming_from_opfython.md").read_text(encoding="utf-8")
    assert f"OPFython takes {fit:.1f} s, pathforest {predict:.3f} s" in " ".join(page.split())
    times = re.search(r"(\d+) times as fast", page)[1]
    assert abs(fit / predict - float(times)) < 5  # a median of ratios, here a ratio of medians


@pytest.fixture(scope="module")
def pictures():
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def story(pictures):
    return pictures.tell()


def test_the_animation_is_what_its_script_draws(pictures, story):
    committed = (pictures.IMAGES / "story.html").read_text(encoding="utf-8")
    assert without_images(committed) == without_images(pictures.animation(story))


def without_images(text):
    """Leave out the pixels, which depend on the version of the library that compresses them."""
    return re.sub(r"base64,[^\"]*", "", text)


def test_regions_of_the_animation_are_those_of_the_models(pictures, story):
    import io

    import numpy as np
    from PIL import Image

    committed = (pictures.IMAGES / "story.html").read_text(encoding="utf-8")
    found = [
        Image.open(io.BytesIO(base64.b64decode(data))) for data in re.findall(r"base64,([^\"]*)", committed)
    ]
    for image, model in zip(found, (story.plain, story.search), strict=True):
        expected = 255 * pictures.regions(model, *pictures.corners(story.X))
        differs = np.abs(np.asarray(image.convert("RGBA")) - expected).max(axis=2) > 8  # colours of a palette
        assert differs.mean() < 0.01  # borders may move with the library that decomposes matrices


def test_the_readme_has_the_scores_of_its_picture(story):
    text = README.read_text(encoding="utf-8")
    assert f"{story.scores['plain']:.1%} right" in text
    assert f"{story.scores['search']:.1%} right" in text


def test_the_picture_of_the_readme_has_a_light_and_a_dark_version():
    text = README.read_text(encoding="utf-8")
    named = re.findall(r"(?:srcset|src)=\"(.*?)\"", text)
    assert len(named) == 2
    assert all((ROOT / name).is_file() for name in named)
    assert 'media="(prefers-color-scheme: dark)" srcset="docs/images/wrong_labels_dark.png"' in text


def test_the_readme_fits_a_screen_or_two():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 60
