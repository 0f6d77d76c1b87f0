"""The renderer of pages and the page to review labels: texts stay texts, and it shows what was found."""

import base64
import hashlib
import io
import json
import os
import pickle
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from browsers import HOSTILE, NAMES, Page, a_review
from PIL import Image
from sklearn.datasets import load_iris

pytest.importorskip("jinja2")

from pathforest import find_issues
from pathforest._pages import images
from pathforest._pages.images import FileImages, pixel_images
from pathforest._pages.map import MOST as MOST_OTHERS
from pathforest._pages.map import make_map
from pathforest._pages.page import render
from pathforest._pages.review import MOST, review_html, spread_of, telling_columns
from pathforest.noise import flip_labels

ODD = "</script><img src=x onerror=alert(1)>&'\""
TEMPLATE = """{% extends "page.html" %}
{% import "pieces.html" as pieces %}
{% block style %}.own { color: red; }{% endblock %}
{% block lead %}{{ odd }}{% endblock %}
{% block first %}
{{ pieces.table(odd, [odd, "b"], [[odd, odd]], words=[odd]) }}{{ pieces.cards([(odd, odd)]) }}
{{ pieces.findings([(odd, odd), ("left out", "")]) }}{{ pieces.facts([(odd, odd)]) }}
{{ pieces.commands(odd, odd) }}
{% endblock %}
{% block second %}{{ missing }}{% endblock %}
"""


def rendered(folder, sections, **options):
    (folder / "own.html").write_text(TEMPLATE)
    return render(folder / "own.html", title=ODD, sections=sections, odd=ODD, **options)


@pytest.mark.parametrize("scripts", [[], ["let a = '<b>&amp;';", "let b;"]])
def test_texts_are_no_markup_and_nothing_runs_or_is_asked_for_but_what_was_given(tmp_path, scripts):
    text = rendered(tmp_path, [("first", ODD)], scripts=scripts)
    assert "<img" not in text
    assert text.count("&lt;img") == 18
    assert "left out" not in text
    assert re.findall("<script>(.*?)</script>", text) == scripts
    allowed = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    policy = re.search('Security-Policy" content="(.*?)"', text)[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src ")
    assert re.findall("'(.*?)'", policy.partition("script-src ")[2]) == (
        [f"sha256-{digest}" for digest in allowed] or ["none"]
    )
    Page(text)
    assert re.findall('href="#(.*?)"', text) == ["main", "first"]
    assert re.findall('<section id="(.*?)"', text) == ["first"]
    assert ".own" in text.partition("</style>")[0]


# The review


def written(review, **options):
    return review_html(review, command="pathforest audit x", settings="euclidean distance", **options)


@pytest.fixture(scope="module")
def hostile():
    review = a_review()
    return review, written(review)


def test_hostile_texts_are_shown_and_are_no_markup(hostile):
    _, html = hostile
    page = Page(html)
    assert "</script><script>document.title='bad'</script>" in page.text
    assert set(NAMES) <= {row[0] for row in page.rows}
    assert "\u202e" not in page.text  # it would turn the text after it around
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 3  # the data and the page's own two
    assert not {"img", "u"} & set(tags)
    data = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1]
    assert not set("<>&") & set(data)  # whatever follows them, they start nothing
    assert (json.loads(data)["classes"], json.loads(data)["table"]) == (
        sorted(HOSTILE),
        "sha256:0123456789abcdef",
    )


def test_suspects_are_ranked_and_stand_beside_their_conquerors(hostile):
    review, html = hostile
    assert [s.row for s in review.suspects][: len(review.issues.suspects)] == review.issues.suspects.tolist()
    for suspect in review.suspects:
        own, other = suspect.witnesses
        assert "has copies" not in suspect.remarks or review.issues.duplicate_group[suspect.row] >= 0
        assert [row for row, _ in own] == review.issues.conquerors[suspect.row, :3].tolist()
        assert [distance for _, distance in other] == review.issues.rival_distances[suspect.row, :3].tolist()
        assert {int(review.codes[row]) for row, _ in own} == {suspect.given}
        assert {int(review.codes[row]) for row, _ in other} == {suspect.rival}
    suspect, X, features = review.suspects[0], review.table.features.Z, review.table.features
    j = telling_columns(features, suspect, spread_of(features))[0]
    rows = [suspect.row, *(row for side in suspect.witnesses for row, _ in side)]
    assert [NAMES[j], "", *(f"{value:.4g}" for value in X[rows, j])] in Page(html).rows


def test_features_that_speak_against_the_label_come_first():
    """Every class has its own value in feature 1; feature 0 is noise that speaks for the wrong label."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=40), np.repeat([0.0, 9.0], 20), np.zeros(40)])
    labels = np.repeat(["a", "b"], 20)
    labels[0] = "b"
    review = a_review(X, labels, ["noise", "signal", "constant"], n_conquerors=5)
    assert review.suspects[0].row == 0
    features = review.table.features
    assert telling_columns(features, review.suspects[0], spread_of(features))[0] == 1


@pytest.mark.ci
@pytest.mark.parametrize(("n", "side", "share"), [(10_000, 8, 0.1), (900, 48, 0.3)])
def test_the_page_stays_below_five_megabytes(n, side, share):
    """Images that are mostly noise do not compress; a share of their labels is wrong."""
    rng, codes = np.random.default_rng(0), np.arange(n) % 3
    X = rng.integers(0, 128, (n, side**2)) + rng.integers(0, 128, (3, side**2))[codes]
    labels = flip_labels(codes, share, random_state=0)
    review = a_review(X.astype(float), labels, [f"p{i}" for i in range(side**2)], "big.csv", {})
    html = written(review, show=pixel_images(review.table.features.Z, (side, side)))
    shown = html.count('class="suspect"')
    assert len(html.encode()) < 5_000_000
    assert 100 < shown < len(review.suspects)
    assert (shown == MOST) == (side == 8)  # large images leave room for fewer
    assert f"These are {shown} of {len(review.suspects)}" in html
    assert written(review, most=3).count('class="suspect"') == 3


CLEAN = np.repeat([0.0, 1.0], 20)[:, None] + np.linspace(0, 0.1, 40)[:, None]


@pytest.mark.parametrize("X", [np.arange(8.0)[:, None], np.zeros((8, 3)), np.eye(8), CLEAN])
def test_degenerate_and_clean_tables_have_a_page(X):
    labels = np.rint(CLEAN[:, 0]) if X is CLEAN else np.array([0, 1] * 4)
    page = Page(written(a_review(X, labels, [f"f{j}" for j in range(X.shape[1])], "x.csv", {})))
    assert "nan" not in page.text
    assert X is not CLEAN or "No label is probably wrong." in page.text


def test_the_map_has_every_suspect_few_others_and_no_room_for_outliers():
    X = np.random.default_rng(0).normal(size=(3 * MOST_OTHERS, 5))
    drawn = make_map(X, list("abcde"), [7, 8, 4000])
    assert drawn.is_thinned
    assert len(drawn.rows) == len(set(drawn.rows.tolist())) == MOST_OTHERS + 3
    assert {7, 8, 4000} <= set(drawn.rows.tolist())
    assert (drawn.places >= 0).all()
    assert (drawn.places <= [1000, 600]).all()
    X[-1] = 1e6
    drawn = make_map(X[:, :2], ["x", "y"], [len(X) - 1])
    assert drawn.is_cut
    assert np.ptp(drawn.places[:-1], axis=0).min() > 300  # an outlier does not squeeze the others
    assert drawn.places[drawn.xy[:, 1].argmin(), 1] > 300  # pictures count from the top


# Images


def decoded(url):
    """Return the pixels of an image on a page."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))))


@pytest.mark.parametrize("shape", [(2, 3), (2, 1, 3), (1, 2, 4)])
def test_pixels_become_an_image(shape):
    X = np.linspace(10, 20, 3 * np.prod(shape)).reshape(3, -1)
    image = decoded(pixel_images(X, shape)(1))
    np.testing.assert_array_equal(image, np.rint((X[1] - 10) / 10 * 255).reshape(shape))


@pytest.fixture
def photos(tmp_path):
    """A folder of a table with images in it and beside it, links, and files of other kinds."""
    folder = tmp_path / "table"
    (folder / "sub").mkdir(parents=True)
    picture = Image.fromarray(np.zeros((300, 200, 3), dtype=np.uint8))
    for path in (folder / "a.png", folder / "sub" / "b.jpg", tmp_path / "private.png"):
        picture.save(path, **({} if path.suffix == ".png" else {"comment": b"at home"}))
    (folder / "secret.png").write_bytes(b"password")
    picture.save(folder / "other.ppm")
    (folder / "in.png").symlink_to(folder / "a.png")
    (folder / "out.png").symlink_to(tmp_path / "private.png")
    (folder / "away").symlink_to(tmp_path)
    os.mkfifo(folder / "fifo.png")
    (folder / "zero.png").symlink_to("/dev/zero")
    return folder


INSIDE = ["a.png", "./sub/b.jpg", "sub/../a.png", "in.png", "{folder}/a.png"]
OUTSIDE = ["../private.png", "{folder}/../private.png", "out.png", "away/private.png"]
NO_IMAGES = ["secret.png", "other.ppm", "fifo.png", "zero.png", "/dev/zero", "missing.png", ".", "nul\0.png"]


@pytest.mark.parametrize("name", INSIDE + OUTSIDE + NO_IMAGES)
def test_only_images_below_the_folder_are_embedded_small_and_without_comments(photos, name):
    is_shown = name in INSIDE
    shown = FileImages([name.format(folder=photos), ""], photos)
    assert (shown(0) is not None, shown(1)) == (is_shown, None)
    if is_shown:
        assert decoded(shown(0)).shape == (112, 75, 3)
        assert b"at home" not in base64.b64decode(shown(0).partition(",")[2])
    assert shown.counts == {"folder": str(photos), "embedded": is_shown, "left_out": not is_shown}


@pytest.mark.parametrize(("owner", "limit"), [(Image, "MAX_IMAGE_PIXELS"), (images, "LARGEST")])
def test_large_files_and_images_of_too_many_pixels_are_left_out(photos, monkeypatch, owner, limit):
    monkeypatch.setattr(owner, limit, 10)
    assert FileImages(["a.png"], photos)(0) is None


def test_issues_write_the_page_and_its_lines_apply_the_decisions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_iris(return_X_y=True)
    issues = find_issues(X, flip_labels(y, 0.1), method="fast")
    issues.review("page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    first, second, *_ = issues.suspects.tolist()
    assert f"samples {first}, {second}," in repr(issues)
    assert re.findall(r'id="row-(\d+)"', text)[: len(issues.suspects)] == list(map(str, issues.suspects))
    code = unescape(re.search(r"<code>(.*?)</code>", text, re.DOTALL)[1])
    (tmp_path / "decisions.csv").write_text(
        f"row,given,decision,change_to,table\n{first},0,change,2,t\n{second},0,drop,,t\n"
    )
    given = {"X": X, "y": issues.given}
    exec(code, given)
    expected = np.where(np.arange(150) == first, 2, issues.given)
    np.testing.assert_array_equal(given["y"], np.delete(expected, second))
    np.testing.assert_array_equal(given["X"], np.delete(X, second, axis=0))
    with pytest.raises(ValueError, match="X has 2 samples"):
        issues.review("page.html", X[:2])
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    (tmp_path / "kept.csv").write_text(f"decision,cells\nkeep,{data['rows'][0][1]}\n")
    issues = pickle.loads(pickle.dumps(issues))
    with pytest.raises(ValueError, match=r"without their samples.*pass X"):
        issues.review("page.html")
    issues.review("page.html", X, kept="kept.csv")
    found = re.findall(r'id="row-(\d+)"', (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert found == list(map(str, issues.suspects[1:]))


def test_categories_and_gaps_are_shown_as_the_table_has_them(tmp_path):
    frame = pd.DataFrame({"size": np.arange(40.0), "city": np.repeat(["Ulm", "Bonn"], 20)})
    frame["day"] = "2024-05-31"
    labels = np.repeat(["a", "b"], 20)
    labels[3] = "b"
    frame.loc[3, "size"] = np.nan
    frame.loc[4, "city"] = None
    issues = find_issues(frame.drop(columns="day"), labels, metric="gower")
    issues.review(tmp_path / "page.html", frame)
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert issues.suspects.tolist() == [3]
    rows = {row[0]: row for row in page.rows if row[0] in frame.columns}
    assert {*rows} == {*frame.columns}
    assert {*rows["city"][2:]} <= {"Ulm", "Bonn", "missing"}
    assert {*rows["day"][2:]} == {"2024-05-31"}
    assert rows["size"][2] == "missing"
