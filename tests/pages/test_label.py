"""The page to give labels: labels flow as in Python; keys, the map, what is kept, and what comes back."""

import importlib.util
import io
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from browsers import HOSTILE, NAMES, PATIENCE, Page, X, a_browser, a_page, codes, faint_texts, looks, visitor
from commands import fail, succeed

from pathforest import OPFSemiSupervisedClassifier, TablePreprocessor, label_page
from pathforest._pages import label as module

pytest.importorskip("jinja2")
Image = pytest.importorskip("PIL.Image")
GIVEN = {0: 0, 60: 1, 140: 2}  # rows of the table that have a label


@pytest.fixture(scope="module")
def check():
    """The script that builds and compares modules of WebAssembly."""
    path = Path(__file__).parents[2] / "cpp" / "wasm" / "check.py"
    spec = importlib.util.spec_from_file_location("check_wasm", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_labels_flow_in_the_browser_as_in_python_after_every_change(check):
    if shutil.which("node") is None:
        pytest.skip("Node is missing")
    assert check.compare_flows(check.PAGES / "flow.wasm") > 50


def test_the_module_is_made_of_the_sources_as_they_are(check):
    kept = (check.PAGES / "flow.sha256").read_text().strip()
    assert kept == check.flow_checksum(), (
        "cpp/ has changed: run make wasm, and commit flow.wasm and flow.sha256"
    )


# The page


def table():
    kinds = np.full(len(X), "", dtype=object)
    for row, code in GIVEN.items():
        kinds[row] = HOSTILE[code]
    return pd.DataFrame(X, columns=NAMES).assign(note=HOSTILE * 50, kind=kinds)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a hostile table, of which three rows have a label, and its page."""
    folder = tmp_path_factory.mktemp("label")
    table().to_csv(folder / "table.csv", index=False)
    said = succeed(
        "label", folder / "table.csv", "-l", "kind", "--ignore", "note", "-o", folder / "page.html"
    )
    assert said == f"{folder}/page.html: 150 samples, 3 with a label\n"
    return folder


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def visit(folder, browser):
    """Open the page; what it complains of and asks for is kept on it as `problems`."""
    open_page = visitor(
        browser,
        (folder / "page.html").as_uri(),
        lambda url: url.startswith((folder.as_uri(), "data:", "blob:")),
    )

    def ready(*look):
        page = open_page(*look)
        page.wait_for_selector("#bench:not([hidden])")
        return page

    return ready


def said(page):
    return page.get_by_role("status").inner_text()


def press(page, keys):
    for key in keys.split():
        page.keyboard.press(key)


def counts(page):
    """Return the samples of each class, by name."""
    rows = page.locator("#all tbody tr").all()
    return {row.locator("b").text_content(): int(row.locator("td").nth(2).inner_text()) for row in rows}


def flowed(decided=()):
    """Return what Python says of the table with these labels."""
    frame = table()
    for row, kind in dict(decided).items():
        frame.loc[row, "kind"] = kind
    Z = TablePreprocessor().fit_transform(frame[NAMES])
    return OPFSemiSupervisedClassifier().fit(Z, frame["kind"].astype(str)).transduction_


@looks
def test_the_page_fits_can_be_read_and_runs_nothing_of_the_table(visit, width, scheme):
    page = visit(width, scheme)
    press(page, "1 2 ArrowLeft")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#map").evaluate("e => e.getBoundingClientRect().width") > 0.5 * min(width, 900)
    shown = "h1, h2, h3, p, b, dt, dd, td, th, summary, button:enabled, a, label, kbd, span"
    assert faint_texts(page, shown) == []
    for text in HOSTILE[::2]:
        assert page.locator("#choices").get_by_text(text, exact=True).is_visible()
    assert page.title().endswith("/table.csv")
    assert page.locator("main img, main script:not([type]), main u").count() == 0
    assert page.problems == []


def test_keys_label_add_classes_undo_and_lead_on(visit):
    page = visit()
    assert said(page).startswith("3 given, 147 flowed, 0 without a label")
    assert counts(page) == dict(zip(*np.unique(flowed(), return_counts=True), strict=True))
    first = page.locator("#where").inner_text()
    press(page, "2")
    assert said(page).startswith("4 given, 146 flowed")
    assert page.locator("#where").inner_text() != first
    press(page, "n")
    page.keyboard.type("1 <new> 2")
    press(page, "Enter")
    assert page.locator("#choices button").count() == 4
    assert said(page).startswith("5 given, 145 flowed")
    press(page, "s ArrowLeft")
    assert page.locator("#choices button[aria-pressed=true]").inner_text().endswith("1 <new> 2")
    press(page, "1")
    assert counts(page)["1 <new> 2"] == 0
    press(page, "u u u")
    assert said(page).startswith("3 given")
    assert page.locator("#where").inner_text() == first
    press(page, "r r")
    assert said(page).startswith("5 given")
    page.reload()
    page.wait_for_selector("#bench:not([hidden])")
    assert said(page).startswith("5 given")
    assert page.locator("#choices button").count() == 4
    press(page, "ArrowLeft x")
    assert said(page).startswith("4 given")


@pytest.mark.ci
def test_the_map_selects_shows_paths_and_moves_by_keys(visit):
    page = visit()
    page.get_by_role("button", name="Select by lasso").click()
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map").bounding_box()
    corners = [(0, 0.5), (0, 0), (1, 0), (1, 1), (0, 1)]  # the map has round ones
    width, height = box["width"] - 2, box["height"] - 2
    places = [(box["x"] + 1 + a * width, box["y"] + 1 + b * height) for a, b in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place)
        page.evaluate("new Promise(requestAnimationFrame)")  # moves within one picture count as one
    page.mouse.up()
    assert page.locator("#why").inner_text() == "147 samples are selected; a class labels all of them"
    press(page, "1")
    assert said(page).startswith("150 given, 0 flowed")
    press(page, "u")
    assert said(page).startswith("3 given")
    page.locator("#map").focus()
    press(page, "+ + ArrowLeft 0 -")
    assert said(page).startswith("3 given")

    def tip(x, y):
        page.mouse.move(box["x"] + x * width, box["y"] + y * height)
        return page.locator("#tip").text_content()

    shares = np.linspace(0.08, 0.92, 20)
    found = "% sure, from line (2|62|142) in [0-9]+ steps?$"
    assert any(re.search(found, tip(x, y)) for x in shares for y in shares)


def test_a_map_of_many_samples_has_the_colours_of_their_classes_and_two_fingers_zoom_it(browser, tmp_path):
    noise = np.random.default_rng(0).normal(scale=0.1, size=(6000, 2))
    many = noise + np.repeat([[-1.0], [1.0]], 3000, axis=0)
    label_page(many, np.where(np.arange(6000) % 3000, "", np.repeat(["a", "b"], 3000)), tmp_path / "p.html")
    page = a_page(browser, allowed=lambda url: url.startswith(("file:", "data:")), has_touch=True)
    page.goto((tmp_path / "p.html").as_uri())
    page.wait_for_selector("#bench:not([hidden])")
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map").bounding_box()

    def reddish():
        """Say how much more red than blue the lower left and the upper right quarter are."""
        image = Image.open(io.BytesIO(page.locator("#map").screenshot())).convert("RGB")
        excess = np.subtract(*np.asarray(image, dtype=float)[:, :, ::2].transpose(2, 0, 1))
        middle, across = np.array(excess.shape) // 2
        return excess[middle:, :across], excess[:middle, across:]

    before = reddish()
    assert (before[0] < -60).sum() > 1000 < (before[1] > 60).sum()
    assert before[0].max() < 60
    assert before[1].min() > -60
    touch = page.context.new_cdp_session(page)
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for kind, far in (("touchStart", 40), ("touchMove", 60), ("touchMove", 100)):
        places = [{"x": middle[0] + s * far, "y": middle[1] - s * far, "id": s + 1} for s in (-1, 1)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.evaluate("new Promise(requestAnimationFrame)")
    assert not any((abs(part) > 60).any() for part in reddish())  # the middle is empty
    assert said(page).startswith("2 given")
    assert page.problems == []


def test_exported_labels_give_the_table_with_all_labels(visit, folder):
    page = visit()
    reasons = []
    for key in ("1", "2", "3", "2", "3", "1"):
        reasons.append(page.locator("#why").inner_text())
        press(page, key)
    assert [reason.startswith("drawn by lot") for reason in reasons] == [i == 4 for i in range(6)]
    assert "of 4 labels that the table had" in page.locator("#estimate").inner_text().lower()
    shown = counts(page)
    with page.expect_download(timeout=PATIENCE) as download:
        page.get_by_role("button", name="Export labels").click()
    download.value.save_as(folder / "decisions.csv")
    decided = pd.read_csv(folder / "decisions.csv", keep_default_na=False)
    assert len(decided) == 6
    files = ["--apply", folder / "decisions.csv", "-o", folder / "labelled.csv"]
    said = succeed("label", folder / "table.csv", "-l", "kind", "--ignore", "note", *files)
    assert said.endswith("150 samples of 3 classes; 3 given, 6 decided, 141 flowed, 0 joined\n")
    found = pd.read_csv(folder / "labelled.csv", keep_default_na=False)
    expected = flowed(dict(zip(decided["row"], decided["label"], strict=True)))
    assert found["kind"].tolist() == expected.tolist()
    assert shown == dict(zip(*np.unique(expected, return_counts=True), strict=True))
    assert set(found.index[found["how"] == "decided"]) == set(decided["row"])
    assert (found["confidence"][found["how"] != "flowed"] == 1).all()
    pd.testing.assert_frame_equal(found[NAMES], table()[NAMES])


# What comes back


def apply(folder, text, *more):
    (folder / "d.csv").write_text(text)
    files = ["--apply", folder / "d.csv", "-o", folder / "o.csv"]
    return fail("label", folder / "table.csv", "-l", "kind", *(more or ["--ignore", "note"]), *files)


def test_labels_that_do_not_fit_the_table_are_refused(folder):
    text = (folder / "page.html").read_text()
    mark = re.search("sha256:[0-9a-f]{16}", text)[0]
    assert "is about another table ('x', and" in apply(folder, "row,label,table\n1,a,x\n")
    assert "about another table" in apply(
        folder, f"row,label,table\n1,a,{mark}\n", "--ignore", "note,${x}`'\""
    )
    assert "there is no column 'label'" in apply(folder, f"row,table\n1,{mark}\n")
    assert "row 1 is decided twice" in apply(folder, f"row,label,table\n1,a,{mark}\n1,a,{mark}\n")
    assert "there is no row 150" in apply(folder, f"row,label,table\n150,a,{mark}\n")
    assert f"row 0 has the label {HOSTILE[0]!r}"[:40] in apply(folder, f"row,label,table\n0,a,{mark}\n")
    assert not (folder / "o.csv").exists()


def test_a_page_for_arrays_says_what_columns_are_asked_and_refuses_what_is_too_much(tmp_path, monkeypatch):
    label_page(X, np.where(np.arange(150) % 50, -1, codes), tmp_path / "p.html", columns={"<i>": codes})
    page = Page((tmp_path / "p.html").read_text())
    assert "pandas.read_csv" in page.text
    assert "3 have a label already" in page.text
    monkeypatch.setattr(module, "MOST", 100)
    with pytest.raises(ValueError, match="a page takes from 2 to 100 samples, not 150; label a part"):
        label_page(X, None, tmp_path / "p.html")
    with pytest.raises(
        ValueError, match="column 'x' holds text, such as 'Kiel', and distances need numbers; enc"
    ):
        label_page(pd.DataFrame({"x": ["Kiel", "Rom"]}), None, tmp_path / "p.html")
