"""The page to review labels in a browser: it fits, takes decisions by mouse and keys, and exports them."""

import pandas as pd
import pytest
from browsers import HOSTILE, NAMES, PATIENCE, X, a_browser, faint_texts, hostile_labels, looks, visitor
from commands import succeed


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
def visit(folder):
    """Open the page; what it complains of and asks for is kept on it as `problems`."""
    with a_browser() as browser:
        yield visitor(
            browser, (folder / "review.html").as_uri(), lambda url: url.startswith((folder.as_uri(), "data:"))
        )


def card(page, number=0):
    return page.locator(".suspect").nth(number)


def press(page, name, number=0):
    card(page, number).get_by_role("button", name=name).click()


def pressed(page, *numbers):
    return [card(page, i).locator("button[aria-pressed=true]").all_inner_texts() for i in numbers]


def focused(page):
    return page.evaluate("document.activeElement.id")


@looks
def test_the_page_fits_can_be_read_and_asks_for_nothing(visit, width, scheme):
    page = visit(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".map").evaluate("e => e.getBoundingClientRect().width") > 0.85 * min(width, 900)
    shown = "h1, h2, h3, p, b, dt, dd, td, th, summary, button:enabled, a, .remark, .cost"
    assert faint_texts(page, shown) == []
    for text in ("</script><script>document.title='bad'</script>", "petal & width"):
        assert page.get_by_text(text).first.is_visible()
    assert "bad" not in page.title().replace("'bad'", "")
    assert page.locator("main img, main script:not([type]), main u").count() == 0
    assert page.problems == []


def test_buttons_decide_take_back_lead_on_and_are_remembered(visit):
    page = visit()
    status, n = page.get_by_role("status"), page.locator(".suspect").count()
    assert status.inner_text() == f"0 of {n} decided: 0 keep, 0 change, 0 drop"
    assert page.get_by_role("button", name="Export decisions").is_disabled()
    press(page, "Drop")
    press(page, "Keep", 1)
    assert status.inner_text() == f"2 of {n} decided: 1 keep, 0 change, 1 drop"
    press(page, "Keep")
    assert pressed(page, 0, 1) == [["Keep"], ["Keep"]]
    page.get_by_role("button", name="Next undecided").click()
    assert focused(page) == card(page, 2).get_attribute("id")
    page.reload()
    assert pressed(page, 0, 1, 2) == [["Keep"], ["Keep"], []]
    press(page, "Keep")
    assert pressed(page, 0) == [[]]
    choice = card(page).get_by_label("New label")
    assert choice.locator("option").count() == 2  # every class but the given one
    other = choice.evaluate("e => Array.from(e.options).find((o) => !o.selected).value")
    choice.select_option(other)
    assert (pressed(page, 0), choice.input_value()) == ([["Change to"]], other)


def test_keys_decide_and_move_on_inside_a_suspect(visit):
    page = visit()
    for key in ("k", "d"):
        page.keyboard.press(key)
    assert page.locator("button[aria-pressed=true]").count() == 0
    card(page).focus()
    for key in ("d", "c", "p", "n", "k"):  # a decision leads on to the next suspect
        page.keyboard.press(key)
    assert pressed(page, 0, 1, 2) == [["Drop"], ["Change to"], ["Keep"]]
    assert card(page, 3).count() == 0 or focused(page) == card(page, 3).get_attribute("id")
    page.keyboard.press("u")
    assert pressed(page, 0, 1, 2) == [["Drop"], ["Change to"], []]
    card(page, 2).focus()
    page.keyboard.press("p")
    assert focused(page) == card(page, 1).get_attribute("id")
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText.split('\\n')[0]").removeprefix("✓ "))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert {"Keep", "Change to", "Drop"} <= set(reached)


def test_all_below_a_score_are_accepted_at_once_and_classes_are_shown_alone(visit):
    page = visit()
    scores = [float(text) for text in page.locator(".score b").all_inner_texts()]
    fuller = page.locator(".gauge i").evaluate_all("bars => bars.map((bar) => parseFloat(bar.style.width))")
    assert fuller == sorted(fuller, reverse=True)
    press(page, "Keep")
    accept, decided = card(page, 2).locator(".all"), sum(score <= scores[2] for score in scores) - 1
    assert accept.inner_text() == f"Accept {decided} up to score {scores[2]:.3f}"
    accept.click()
    expected = [["Keep"], *([["Change to"]] * decided), *([[]] * (len(scores) - 1 - decided))]
    assert pressed(page, *range(len(scores))) == expected
    page.get_by_role("button", name="Undo").click()
    assert pressed(page, 0, 1, 2) == [["Keep"], [], []]
    options = page.get_by_label("Classes to show").locator("option")
    for option in options.all()[1:]:
        page.get_by_label("Classes to show").select_option(option.get_attribute("value"))
        shown = [one.inner_text() for one in page.locator(".suspect:visible .verdict").all()]
        assert option.inner_text().endswith(f"({len(shown)})")
        assert len(shown) <= len(scores)


def test_exported_decisions_give_the_table_edited_by_hand(visit, folder):
    page, by_hand = visit(), table()
    n = page.locator(".suspect").count()
    assert n >= 3
    rows = [int(card(page, i).get_attribute("id").removeprefix("row-")) for i in range(n)]
    for number, name in enumerate(["Change to", "Drop", "Keep", *(["Change to"] * (n - 3))]):
        choice = card(page, number).get_by_label("New label")
        if name == "Change to":
            by_hand.loc[rows[number], "kind"] = sorted(HOSTILE)[int(choice.input_value())]
        press(page, name, number)
    with page.expect_download(timeout=PATIENCE) as download:
        page.get_by_role("button", name="Export decisions").click()
    download.value.save_as(folder / "decisions.csv")
    files = ["--apply", folder / "decisions.csv", "-o", folder / "c.csv"]
    succeed("audit", folder / "table.csv", "-l", "kind", *files)
    by_hand = by_hand.drop(rows[1]).reset_index(drop=True)
    pd.testing.assert_frame_equal(pd.read_csv(folder / "c.csv"), by_hand)
