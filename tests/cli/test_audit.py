"""`pathforest audit`: suspects found and listed, and decisions about them applied to the table."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, KINDS, X, facts, fail, run, succeed
from PIL import Image
from pipelines import passengers

import pathforest
from pathforest import TablePreprocessor
from pathforest._issues import find
from pathforest.datasets import write
from pathforest.noise import flip_labels

find_issues = partial(pathforest.find_issues, method="fast")
NOISY = flip_labels(KINDS, 0.1, random_state=1)
AUDIT = "audit noisy.csv -l kind --ignore name --set method=fast"
APPLY = "audit noisy.csv -l kind --apply decisions.csv --out cleaned.csv"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Start in a folder with the flowers, some of them with wrong labels and all with a name."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.insert(0, "name", [f"flower, {i}" for i in range(len(X))])
    frame.insert(3, "kind", NOISY)
    frame.to_csv("noisy.csv", index=False)
    return frame


def decide(rows):
    """Fill in decisions about suspects by hand: {position in the list: decision or (change, label)}."""
    suspects = pd.read_csv("suspects.csv", dtype=str, keep_default_na=False)
    for i, decision in rows.items():
        name, *label = decision if isinstance(decision, tuple) else (decision,)
        suspects.loc[i, "decision"] = name
        suspects.loc[i, "change_to"] = label[0] if label else suspects.loc[i, "change_to"]
    suspects.to_csv("decisions.csv", index=False)
    return suspects


def same_findings(found, issues):
    """The suspects of a command are the issues of Python."""
    flagged = found["suspects"][: found["n_label_issues"]]
    rows = sorted(suspect["row"] for suspect in found["suspects"])
    assert rows == np.flatnonzero(issues.is_label_issue | issues.is_conflict).tolist()
    assert [suspect["row"] for suspect in flagged] == issues.suspects.tolist() != []
    assert [suspect["score"] for suspect in flagged] == issues.score[issues.suspects].tolist()
    assert [suspect["suggested"] for suspect in flagged] == issues.suggested[issues.suspects].tolist()
    assert [suspect["line"] for suspect in flagged] == (issues.suspects + 2).tolist()
    assert list(map(tuple, found["mixed_classes"])) == issues.mixed_classes
    assert found["noise_share"] == issues.noise_share
    assert found["n_outliers"] == issues.is_outlier.sum()
    assert found["n_islands"] == issues.island.max() + 1
    assert found["n_conflict_groups"] == len(np.unique(issues.duplicate_group[issues.is_conflict]))


def test_audit_finds_what_find_issues_finds(table, monkeypatch):
    before = sorted(Path().iterdir())
    found = facts(f"{AUDIT} --set n_conquerors=7 --set metric=manhattan")
    same_findings(found, find_issues(X, NOISY, n_conquerors=7, metric="manhattan"))
    assert sorted(Path().iterdir()) == before  # nothing is written unasked
    scaled = TablePreprocessor().fit_transform(table[FEATURES])
    same_findings(facts(f"{AUDIT} --scale"), find_issues(scaled, NOISY))
    monkeypatch.setattr(find, "SMALL", (9, 9, 9))
    automatic = AUDIT.replace("--set method=fast", "--out review.html")
    found = facts(automatic)
    same_findings(found, find_issues(scaled, NOISY, method="learned"))
    assert found["method"] == "learned"
    page = Path("review.html").read_text(encoding="utf-8")
    assert "learned (&#39;thorough&#39; finds a little more" in page
    assert "euclidean distance, features standardised" in page
    points, labels = X[[*range(150), 0, 60, 60]], np.append(NOISY, ["setosa", "versicolor", "setosa"])
    write("twins.csv", points, labels, label="kind")
    same_findings(facts("audit twins.csv -l kind --set method=fast"), find_issues(points, labels))
    mixed, labels = passengers(60)
    mixed.assign(kind=labels).to_csv("mixed.csv", index=False)
    found = facts("audit mixed.csv -l kind --set metric=gower --out review.html")
    same_findings(found, find_issues(mixed, labels, metric="gower"))
    assert "gower distance, columns as they are" in Path("review.html").read_text(encoding="utf-8")
    succeed("audit mixed.csv -l kind -o review.html")
    page = Path("review.html").read_text(encoding="utf-8")
    assert '<th scope="row">port</th>' in page  # as the table has it, not as zeros and ones
    assert "port=" not in page


@pytest.mark.parametrize(("option", "embedded"), [("", 1), ("--images data/photos", 0)])
def test_image_files_below_a_folder_are_embedded_if_asked(table, tmp_path, option, embedded):
    Path("data/photos").mkdir(parents=True)
    for path in ("data/photos/a.png", "private.png"):
        Image.new("RGB", (9, 9)).save(path)
    names = np.where(np.arange(len(table)) % 2, "../private.png", "photos/a.png")
    table.assign(name=names).to_csv("data/noisy.csv", index=False)
    found = facts(f"audit data/noisy.csv -l kind --image-column name {option} --out review.html")["images"]
    place = str(tmp_path / (option.removeprefix("--images ") or "data"))
    assert found == {"folder": place, "embedded": embedded, "left_out": 2 - embedded}
    assert ("<img" in Path("review.html").read_text()) == (embedded > 0)


# Decisions


def test_applied_decisions_equal_the_table_edited_by_hand(table):
    succeed(f"{AUDIT} --suspects suspects.csv")
    succeed("audit noisy.csv -l kind --apply suspects.csv --out cleaned.csv")
    assert Path("cleaned.csv").read_text() == Path("noisy.csv").read_text()
    rows = [int(row) for row in decide({0: "change", 1: "drop", 2: "keep", 3: ("change", "setosa")})["row"]]
    table.loc[rows[0], "kind"] = find_issues(X, NOISY).suggested[rows[0]]
    table.loc[rows[3], "kind"] = "setosa"
    table.drop(rows[1]).to_csv("by_hand.csv", index=False)
    Path("noisy.csv").rename("renamed.csv")
    done = succeed(APPLY.replace("noisy", "renamed"))
    assert done == "cleaned.csv: 149 samples; 2 labels changed, 1 sample dropped, 1 kept\n"
    assert Path("cleaned.csv").read_text() == Path("by_hand.csv").read_text()


def test_what_was_kept_is_no_suspect_again_unless_it_has_changed(table):
    before = facts(f"{AUDIT} --suspects suspects.csv")["suspects"]
    rows = [int(row) for row in decide({0: "keep", 1: "keep", 2: "drop"})["row"]]
    table.loc[rows[1], "name"] = "renamed"  # another row now
    table.iloc[::-1, ::-1].to_csv("noisy.csv", index=False)  # and the table, in another order
    found = facts(f"{AUDIT} --kept decisions.csv")
    assert found["n_kept"] == 1
    assert {149 - one["row"] for one in found["suspects"]} == {one["row"] for one in before} - {rows[0]}
    assert "1 suspect left out, kept in an earlier review" in succeed(f"{AUDIT} --kept decisions.csv")
    assert "noisy.csv: there is no column 'decision'; decisions have" in fail(f"{AUDIT} --kept noisy.csv")


def test_rows_without_a_label_are_not_judged_and_stay_in_the_table(table):
    clean = facts(AUDIT)["suspects"]
    table = table.iloc[np.repeat(range(150), 2)].reset_index(drop=True)
    table.loc[::2, "kind"] = ""
    table.to_csv("noisy.csv", index=False)
    done = run(f"{AUDIT} --suspects suspects.csv --out page.html")
    assert done.stderr == "pathforest: 150 of 300 rows left out: no label in column 'kind'\n"
    suspects = decide({0: "drop", 1: "change"})
    assert suspects["row"].astype(int).tolist() == [2 * one["row"] + 1 for one in clean]
    assert suspects["line"].astype(int).tolist() == [2 * one["row"] + 3 for one in clean]
    assert f'"rows": [[{suspects["row"][0]}, "{suspects["cells"][0]}"]' in Path("page.html").read_text()
    rows = suspects["row"].astype(int)[:2].tolist()
    table.loc[rows[1], "kind"] = suspects["change_to"][1]
    table.drop(rows[0]).to_csv("by_hand.csv", index=False)
    succeed(APPLY)
    assert Path("cleaned.csv").read_text() == Path("by_hand.csv").read_text()


CHANGED = {
    "cell": lambda table: table.assign(width=table["width"] + (table.index == 5) / 10),
    "label": lambda table: table.assign(kind=["virginica", *table["kind"][1:]]),
    "name": lambda table: table.rename(columns={"width": "breadth"}),
    "row": lambda table: table.drop(7),
    "order": lambda table: table.iloc[::-1],
}


def test_decisions_about_another_table_are_refused(table):
    succeed(f"{AUDIT} --suspects suspects.csv")
    decide({0: "drop"})
    Path("cleaned.csv").write_text("before")
    for what, change in CHANGED.items():
        change(table).to_csv("noisy.csv", index=False)
        said = fail(APPLY)
        assert "decisions.csv: line 2: the decision is about another table ('sha256:" in said, what
    assert Path("cleaned.csv").read_text() == "before"


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("decision", "delete", "'delete' is not a decision; write one of keep, change, drop, or nothing"),
        ("change_to", "rose", "change_to 'rose' is not a class of the table; it has 'setosa', 'versicolor'"),
        ("row", "150", "there is no row 150; the table has 150, counted from 0"),
        ("row", "-1", "there is no row -1"),
        ("row", None, "is decided twice; leave one of the lines out"),
        ("given", "rose", "not 'rose'; is --label the same as in the audit?"),
        ("table", "", "the decision is about another table"),
    ],
)
def test_wrong_decisions_are_refused(table, column, value, said):
    succeed(f"{AUDIT} --suspects suspects.csv")
    suspects = decide({0: "keep", 1: "change"})
    if value is None:
        suspects.loc[1] = suspects.loc[0]
    else:
        suspects.loc[1, column] = value
    suspects.to_csv("decisions.csv", index=False)
    message = fail(APPLY)
    assert message.startswith("pathforest: decisions.csv: line 3: ")
    assert said in message
    assert not Path("cleaned.csv").exists()
