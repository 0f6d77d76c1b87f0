"""The page to review labels in a browser: it fits, takes decisions by mouse and keys, and exports them."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from browsers import PATIENCE, WIDTHS, a_browser, a_page, faint_texts, looks, visitor, wait_until
from commands import succeed
from reviews import HOSTILE, NAMES, X, a_review_of_digits, hostile_labels

from pathforest._pages.images import pixel_images
from pathforest._pages.review import review_html


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a hostile table, and the page that its audit wrote."""
    folder = tmp_path_factory.mktemp("review")
    table().to_csv(folder / "table.csv", index=False)
    succeed("audit", folder / "table.csv", "-l", "kind", "--ignore", "note", "-o", folder / "review.html")
    return folder


def table():
    frame = pd.DataFrame(X, columns=NAMES)
    return frame.assign(note=HOSTILE * 50, kind=hostile_labels())


@pytest.fixture(scope="module")
def visit(browser, folder):
    """Open the page; what it complains of and asks for is kept on it as `problems`."""
    address = (folder / "review.html").as_uri()
    return visitor(browser, address, allowed=lambda url: url.startswith(address))


@pytest.fixture(scope="module")
def look(visit):
    """Pages that tests look at and leave as they are."""
    return cache(visit)


def card(page, number=0):
    return page.locator(".suspect").nth(number)


def row(page, number=0):
    return int(card(page, number).get_attribute("id").removeprefix("row-"))


def pressed(page, number=0):
    return card(page, number).locator("button[aria-pressed=true]").all_inner_texts()


def exported(page, path):
    with page.expect_download(timeout=PATIENCE) as download:
        page.get_by_role("button", name="Export decisions").click()
    download.value.save_as(path)


@looks
def test_the_page_fits_the_window_and_asks_for_nothing(look, width, scheme):
    page = look(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.problems == []


@looks
def test_text_stands_out_from_its_background(look, width, scheme):
    shown = "h1, h2, h3, p, b, dt, dd, td, th, summary, button:enabled, a, .remark, .cost"
    assert faint_texts(look(width, scheme), shown) == []


def test_hostile_texts_stay_texts(look):
    page = look()
    assert "bad" not in page.title().replace("'bad'", "")
    for text in ("</script><script>document.title='bad'</script>", "petal & width"):
        assert page.get_by_text(text).first.is_visible()
    assert page.locator("main img, main script:not([type]), main u").count() == 0
    assert page.problems == []


def test_a_suspect_on_the_map_leads_to_its_place(visit):
    page = visit()
    page.locator(".map").scroll_into_view_if_needed()
    # A mark has no size, only a wide stroke; the worst is drawn last.
    place = page.locator(".map a").last.evaluate("e => e.getBoundingClientRect()")
    page.mouse.click(place["x"] + 7, place["y"])
    wait_until(page, f"location.hash === '#{card(page).get_attribute('id')}'")
    assert card(page).evaluate("e => e.getBoundingClientRect().top") < 900


def test_marks_on_the_map_are_drawn_round_at_every_width(look):
    for width in WIDTHS:
        page = look(width, "light")
        assert page.locator(".map a .ring").first.evaluate("e => getComputedStyle(e).vectorEffect") == (
            "non-scaling-stroke"
        )
        assert page.locator(".map").evaluate("e => e.getBoundingClientRect().width") > 0.85 * min(width, 900)


def test_buttons_decide_and_take_back(visit):
    page = visit()
    status = page.get_by_role("status")
    n = page.locator(".suspect").count()
    assert status.inner_text() == f"0 of {n} decided: 0 keep, 0 change, 0 drop"
    assert page.get_by_role("button", name="Export decisions").is_disabled()
    card(page).get_by_role("button", name="Drop").click()
    card(page, 1).get_by_role("button", name="Keep").click()
    assert status.inner_text() == f"2 of {n} decided: 1 keep, 0 change, 1 drop"
    card(page).get_by_role("button", name="Keep").click()
    assert pressed(page) == ["Keep"]
    card(page).get_by_role("button", name="Keep").click()
    assert pressed(page) == []
    assert status.inner_text() == f"1 of {n} decided: 1 keep, 0 change, 0 drop"


def test_a_chosen_label_is_a_decision(visit):
    page = visit()
    choice = card(page).get_by_label("New label")
    assert choice.locator("option").count() == 2  # every class but the given one
    other = choice.evaluate("e => Array.from(e.options).find((o) => !o.selected).value")
    choice.select_option(other)
    assert pressed(page) == ["Change to"]
    assert choice.input_value() == other


def test_keys_decide_and_move_on(visit):
    page = visit()
    card(page).focus()
    for key in ("d", "n", "c", "n", "k", "p"):
        page.keyboard.press(key)
    assert [pressed(page, i) for i in range(3)] == [["Drop"], ["Change to"], ["Keep"]]
    assert page.evaluate("document.activeElement.id") == card(page, 1).get_attribute("id")


def test_keys_outside_a_suspect_do_nothing(visit):
    page = visit()
    page.keyboard.press("k")
    page.keyboard.press("d")
    assert page.locator("button[aria-pressed=true]").count() == 0


def test_tab_reaches_every_button_and_focus_can_be_seen(visit):
    page = visit()
    card(page).focus()
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText.split('\\n')[0]"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert {"Keep", "Change to", "Drop"} <= set(reached)


def test_next_leads_to_what_is_undecided(visit):
    page = visit()
    for number in (0, 1):
        card(page, number).get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Next undecided").click()
    assert page.evaluate("document.activeElement.id") == card(page, 2).get_attribute("id")


def test_decisions_are_there_again_when_the_page_is_opened_again(visit):
    page = visit()
    card(page).get_by_role("button", name="Drop").click()
    card(page, 1).get_by_role("button", name="Change to").click()
    page.reload()
    assert (pressed(page), pressed(page, 1)) == (["Drop"], ["Change to"])


def test_exported_decisions_give_the_table_edited_by_hand(visit, folder):
    page = visit()
    n = page.locator(".suspect").count()
    assert n >= 3
    by_hand = table()
    for number, name in enumerate(["Change to", "Drop", "Keep", *(["Change to"] * (n - 3))]):
        choice = card(page, number).get_by_label("New label")
        label = sorted(HOSTILE)[int(choice.input_value())]
        card(page, number).get_by_role("button", name=name).click()
        if name == "Change to":
            by_hand.loc[row(page, number), "kind"] = label
    by_hand = by_hand.drop(row(page, 1))
    exported(page, folder / "decisions.csv")
    succeed(
        "audit",
        folder / "table.csv",
        "-l",
        "kind",
        "--apply",
        folder / "decisions.csv",
        "-o",
        folder / "c.csv",
    )
    pd.testing.assert_frame_equal(pd.read_csv(folder / "c.csv"), by_hand.reset_index(drop=True))


def test_numbers_are_there_without_javascript(visit):
    page = visit(javascript=False)
    assert page.problems == []
    assert card(page).locator("td.this").first.is_visible()
    assert page.locator(".map path").count() > 10
    assert page.get_by_role("button").count() == 0


def test_images_are_drawn(browser, tmp_path):
    review = a_review_of_digits()
    show = pixel_images(review.table.X, (8, 8))
    html = review_html(review, command="x", settings="euclidean distance", show=show)
    (tmp_path / "digits.html").write_text(html, encoding="utf-8")
    page = a_page(browser, 390, allowed=lambda url: url.startswith(("file:", "data:")))
    page.goto((tmp_path / "digits.html").as_uri())
    sizes = page.eval_on_selector_all("img", "all => all.map((e) => [e.naturalWidth, e.naturalHeight])")
    assert len(sizes) > 6
    assert np.all(np.array(sizes) == 8)
    assert page.problems == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
