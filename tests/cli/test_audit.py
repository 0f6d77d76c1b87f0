"""`pathforest audit`: suspects found and listed, and decisions about them applied to the table."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FEATURES, KINDS, X, codes, fail, run, succeed
from PIL import Image

from pathforest import find_issues
from pathforest.datasets import read, write
from pathforest.noise import flip_labels

NOISY = flip_labels(KINDS, 0.1, random_state=1)
AUDIT = "audit noisy.csv -l kind --ignore name"


def noisy_flowers():
    """Return the iris set with some wrong labels, and a text column that is not a feature."""
    frame = pd.DataFrame(X, columns=FEATURES)
    frame.insert(0, "name", [f"flower, {i}" for i in range(len(X))])
    frame.insert(3, "kind", NOISY)
    return frame


@pytest.fixture
def table(folder):
    noisy_flowers().to_csv("noisy.csv", index=False)
    return noisy_flowers()


def decide(rows, path="decisions.csv"):
    """Fill in decisions about suspects by hand: {position in the list: decision or (change, label)}."""
    suspects = pd.read_csv("suspects.csv", dtype=str, keep_default_na=False)
    for i, decision in rows.items():
        name, *label = decision if isinstance(decision, tuple) else (decision,)
        suspects.loc[i, "decision"] = name
        suspects.loc[i, "change_to"] = label[0] if label else suspects.loc[i, "change_to"]
    suspects.to_csv(path, index=False)
    return suspects


@pytest.fixture
def mixed(folder):
    """Write a table with text, booleans and gaps, some of whose labels are wrong."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 12, 80), "port": rng.choice(["C", "Q", "S"], 80)})
    frame["alone"] = rng.random(80) < 0.5
    labels = np.where((frame["port"] == "C") ^ frame["alone"], "yes", "no")
    frame.loc[::9, "age"] = np.nan
    frame.assign(kind=flip_labels(labels, 0.05, random_state=0)).to_csv("mixed.csv", index=False)
    return pd.read_csv("mixed.csv")


def test_audit_by_gower_compares_columns_as_they_are(mixed):
    facts = json.loads(succeed("audit mixed.csv -l kind --metric gower --json --out review.html"))
    issues = find_issues(mixed.drop(columns="kind"), mixed["kind"], metric="gower")
    assert len(issues.suspects)
    flagged = facts["suspects"][: facts["n_label_issues"]]
    assert [suspect["row"] for suspect in flagged] == issues.suspects.tolist()
    assert [suspect["score"] for suspect in flagged] == issues.score[issues.suspects].tolist()
    assert "gower distance, columns as they are" in Path("review.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["--scale", "--method thorough"])
def test_audit_by_gower_refuses_what_needs_numbers(mixed, option):
    assert "leave" in fail(f"audit mixed.csv -l kind --metric gower {option}", code=2)


def test_learning_by_gower_refuses_tables_with_text(mixed):
    said = fail("train mixed.csv -l kind -e opf --set metric=gower --learn mixed.csv -o m.pf", code=2)
    assert "leave out --set metric" in said


def test_audit_reports_what_find_issues_finds(table):
    facts = json.loads(succeed(f"{AUDIT} --n-conquerors 7 --metric manhattan --json"))
    issues = find_issues(X, NOISY, n_conquerors=7, metric="manhattan")
    flagged = facts["suspects"][: facts["n_label_issues"]]
    assert [suspect["row"] for suspect in flagged] == issues.suspects.tolist()
    assert [suspect["score"] for suspect in flagged] == issues.score[issues.suspects].tolist()
    assert [suspect["suggested"] for suspect in flagged] == issues.suggested[issues.suspects].tolist()
    assert [suspect["line"] for suspect in flagged] == (issues.suspects + 2).tolist()
    assert list(map(tuple, facts["mixed_classes"])) == issues.mixed_classes
    assert facts["noise_share"] == issues.noise_share
    assert facts["n_outliers"] == issues.is_outlier.sum()
    assert facts["n_islands"] == issues.island.max() + 1


def test_equal_rows_with_different_labels_are_suspects(folder):
    points = np.concatenate([X[:100], X[:1], X[60:61], X[60:61]])
    labels = np.concatenate([KINDS[:100], ["setosa", "versicolor", "setosa"]])
    write("twins.csv", points, labels, label="kind")
    facts = json.loads(succeed("audit twins.csv -l kind --json"))
    issues = find_issues(points, labels)
    rows = [suspect["row"] for suspect in facts["suspects"]]
    assert set(rows) == set(np.flatnonzero(issues.is_label_issue | issues.is_conflict))
    assert {60, 101, 102} <= set(rows)
    assert facts["n_conflict_groups"] == 1
    assert facts["n_duplicate_groups"] == issues.duplicate_group.max()  # one of the groups is the conflict


def test_the_summary_names_suspects_and_files(table):
    out = succeed(f"{AUDIT} --out review.html --suspects suspects.csv")
    assert str(find_issues(X, NOISY)) in out
    worst = find_issues(X, NOISY).suspects[0]
    line = next(line for line in out.splitlines() if line.split()[:1] == [str(worst + 2)])
    assert NOISY[worst] in line
    n_suspects = len(pd.read_csv("suspects.csv"))
    assert out.splitlines()[-2:] == [f"{n} {n_suspects} suspects" for n in ("review.html:", "suspects.csv:")]


def test_nothing_is_written_unasked(table, folder):
    before = sorted(path.name for path in folder.iterdir())
    succeed(AUDIT)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_scale_standardises_and_its_absence_is_noticed(folder):
    wide = X * [1, 1, 1, 1000]
    write("wide.csv", wide, NOISY, label="kind")
    scaled = json.loads(succeed("audit wide.csv -l kind --scale --json"))
    Z = (wide - wide.mean(0)) / wide.std(0)
    expected = find_issues(Z, NOISY)
    assert [s["row"] for s in scaled["suspects"]][:5] == expected.suspects[:5].tolist()
    assert "features differ in scale" in run("audit wide.csv -l kind").stderr
    assert run("audit wide.csv -l kind --scale").stderr == ""


def test_the_table_can_come_through_a_pipe(table, folder):
    text = (folder / "noisy.csv").read_bytes()
    piped = json.loads(succeed("audit - -l kind --ignore name --json", stdin=text))
    direct = json.loads(succeed(f"{AUDIT} --json"))
    assert piped.pop("data") == "standard input"
    assert direct.pop("data") == "noisy.csv"
    assert piped == direct


@pytest.fixture
def pictured(table, folder):
    """The table with a column of image files, half of them outside its folder."""
    (folder / "data" / "photos").mkdir(parents=True)
    for path in (folder / "data" / "photos" / "a.png", folder / "private.png"):
        Image.new("RGB", (9, 9)).save(path)
    names = np.where(np.arange(len(table)) % 2, "../private.png", "photos/a.png")
    table.assign(name=names).to_csv("data/noisy.csv", index=False)
    return "audit data/noisy.csv -l kind --ignore name --out review.html"


def test_no_image_is_embedded_unasked(pictured):
    assert "image" not in succeed(pictured)
    assert "<img" not in Path("review.html").read_text()


@pytest.mark.parametrize(
    ("option", "place", "embedded", "left_out"),
    [("", "data", 1, 1), ("--images data/photos", "data/photos", 0, 2)],
)
def test_image_files_below_a_folder_are_embedded_and_counted(
    pictured, folder, option, place, embedded, left_out
):
    line = f"{pictured} --image-column name {option}"
    said = succeed(line).splitlines()[-1]
    count = f"{embedded} image{'s' * (embedded != 1)}"
    assert f"suspects, {count} embedded from {folder / place}; {left_out} left out: outside it" in said
    counts = json.loads(succeed(f"{line} --json"))["images"]
    assert counts == {"folder": str(folder / place), "embedded": embedded, "left_out": left_out}
    assert ("<img" in Path("review.html").read_text()) == (embedded > 0)


def test_images_of_a_piped_table_need_a_folder(pictured, folder):
    text = (folder / "data" / "noisy.csv").read_bytes()
    line = "audit - -l kind --image-column name -o review.html"
    assert "a pipe has no folder; name that of the files with --images" in run(line, stdin=text).stderr
    assert "1 image embedded" in succeed(f"{line} --images data", stdin=text)


# Decisions


def test_applied_decisions_equal_the_table_edited_by_hand(table, folder):
    succeed(f"{AUDIT} --suspects suspects.csv")
    rows = [int(row) for row in decide({0: "change", 1: "drop", 2: "keep", 3: ("change", "setosa")})["row"]]
    better = find_issues(X, NOISY).suggested
    table.loc[rows[0], "kind"] = better[rows[0]]
    table.loc[rows[3], "kind"] = "setosa"
    table = table.drop(rows[1])
    done = succeed("audit noisy.csv -l kind --apply decisions.csv --out cleaned.csv")
    assert done == "cleaned.csv: 149 samples; 2 labels changed, 1 sample dropped, 1 kept\n"
    table.to_csv("by_hand.csv", index=False)
    assert (folder / "cleaned.csv").read_text() == (folder / "by_hand.csv").read_text()


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv", ".parquet", ".npz", ".dat", ".txt", ".libsvm"])
def test_every_format_is_cleaned_in_its_own(folder, ending):
    labels = flip_labels(codes + 1, 0.1, random_state=1)
    write(f"data{ending}", X.astype(np.float32), labels)
    succeed(f"audit data{ending} --suspects suspects.csv")
    rows = [int(row) for row in decide({0: "change", 1: "drop"})["row"]]
    succeed(f"audit data{ending} --apply decisions.csv --out cleaned{ending}")
    cleaned = read(f"cleaned{ending}")
    labels[rows[0]] = find_issues(X.astype(np.float32), labels).suggested[rows[0]]
    kept = np.delete(np.arange(len(X)), rows[1])
    assert cleaned.y.tolist() == labels[kept].tolist()
    np.testing.assert_array_equal(cleaned.X.astype(np.float32), X.astype(np.float32)[kept])


def test_no_decision_leaves_the_table_as_it_is(table, folder):
    succeed(f"{AUDIT} --suspects suspects.csv")
    succeed("audit noisy.csv -l kind --apply suspects.csv --out cleaned.csv")
    assert (folder / "cleaned.csv").read_text() == (folder / "noisy.csv").read_text()


def test_decisions_survive_another_name_of_the_table(table, folder):
    succeed(f"{AUDIT} --suspects suspects.csv")
    decide({0: "drop"})
    (folder / "noisy.csv").rename("renamed.csv")
    succeed("audit renamed.csv -l kind --apply decisions.csv --out cleaned.csv")
    assert len(pd.read_csv("cleaned.csv")) == len(X) - 1


@pytest.mark.parametrize("change", ["cell", "label", "name", "row", "order"])
def test_decisions_about_another_table_are_refused(table, folder, change):
    succeed(f"{AUDIT} --suspects suspects.csv")
    decide({0: "drop"})
    if change == "cell":
        table.loc[5, "width"] += 0.1
    elif change == "label":
        table.loc[0, "kind"] = "virginica"
    elif change == "name":
        table = table.rename(columns={"width": "breadth"})
    elif change == "row":
        table = table.drop(7)
    else:
        table = table.iloc[::-1]
    table.to_csv("noisy.csv", index=False)
    (folder / "cleaned.csv").write_text("before")
    said = fail("audit noisy.csv -l kind --apply decisions.csv --out cleaned.csv")
    assert "decisions.csv: line 2: the decision is about another table ('sha256:" in said
    assert (folder / "cleaned.csv").read_text() == "before"


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("decision", "delete", "'delete' is not a decision; write one of keep, change, drop, or nothing"),
        ("change_to", "rose", "change_to 'rose' is not a class of the table; it has 'setosa', 'versicolor'"),
        ("change_to", "", "change_to '' is not a class"),
        ("row", "150", "there is no row 150; the table has 150, counted from 0"),
        ("row", "-1", "there is no row -1"),
        ("row", "seven", "'seven' is not an integer"),
        ("given", "rose", "not 'rose'; is --label the same as in the audit?"),
        ("table", "", "the decision is about another table"),
    ],
)
def test_wrong_decisions_are_refused(table, folder, column, value, said):
    succeed(f"{AUDIT} --suspects suspects.csv")
    suspects = decide({0: "keep", 1: "change"})
    suspects.loc[1, column] = value
    suspects.to_csv("decisions.csv", index=False)
    message = fail("audit noisy.csv -l kind --apply decisions.csv --out cleaned.csv")
    assert message.startswith("pathforest: decisions.csv: line 3: ")
    assert said in message
    assert not (folder / "cleaned.csv").exists()


def test_two_decisions_about_a_row_are_refused(table):
    succeed(f"{AUDIT} --suspects suspects.csv")
    suspects = decide({0: "keep"})
    pd.concat([suspects[:1], suspects[:1]]).to_csv("decisions.csv", index=False)
    said = fail("audit noisy.csv -l kind --apply decisions.csv --out cleaned.csv")
    assert f"line 3: row {suspects['row'][0]} is decided twice; leave one of the lines out" in said


def test_a_file_without_decisions_is_refused(table):
    said = fail("audit noisy.csv -l kind --apply noisy.csv --out cleaned.csv")
    assert "noisy.csv: there is no column 'row'; decisions have the columns row, given, decision" in said


def test_a_table_cannot_lose_all_its_rows(folder):
    write("two.csv", np.zeros((2, 2)), np.array(["a", "b"]), label="kind")
    succeed("audit two.csv -l kind --suspects suspects.csv")
    decide({0: "drop", 1: "drop"})
    said = fail("audit two.csv -l kind --apply decisions.csv --out cleaned.csv")
    assert "every row is dropped" in said


@pytest.mark.parametrize(
    ("line", "said", "code"),
    [
        (f"{AUDIT} --method quick", "method='quick' is unknown; use one of 'fast', 'thorough'", 1),
        (f"{AUDIT} --metric nothing", "nothing", 1),
        (f"{AUDIT} --image-shape 3x3", "--image-shape 3x3: write HEIGHTxWIDTH", 1),
        (f"{AUDIT} --image-column picture", "there is no column 'picture'", 1),
        (f"{AUDIT} --images .", "--images: name the column of the files with --image-column", 2),
        (f"{AUDIT} --image-column name --images nowhere", "--images nowhere: there is no such folder", 2),
        (f"{AUDIT} --image-column name --image-shape 2x2", "--image-shape: not with --image-column", 2),
        (f"{AUDIT} --image-column kind", "this is the column of the labels; name another", 1),
        (f"{AUDIT} --suspects noisy.csv", "writing it would replace noisy.csv", 1),
        (f"{AUDIT} --out cleaned.csv", "without --apply it is an HTML page; end its name with .html", 2),
        (f"{AUDIT} --suspects s.npz", "the ending is not that of an output format", 1),
        (
            "audit noisy.csv -l kind --no-encode",
            "'flower, 0' is not a number (--ignore leaves a column out)",
            1,
        ),
        ("audit noisy.csv -l kind --apply d.csv", "--apply: name the cleaned table with --out", 2),
        ("audit noisy.csv -l kind --apply d.csv -o c.npz", "the format of DATA, .csv; convert changes", 2),
        (
            "audit noisy.csv -l kind --apply d.csv -o c.csv --suspects s.csv",
            "--suspects: not with --apply",
            2,
        ),
        ("audit noisy.csv -l kind --apply d.csv -o noisy.csv", "writing it would replace noisy.csv", 1),
    ],
)
def test_mistakes_are_one_line(table, line, said, code):
    assert said in fail(line, code=code)
