"""Cells of the input are written as they came; predicted and suggested labels as they stand in the input."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from commands import succeed

RISKY = [
    *("@bob", "+49 30 1", "=1+1", "'=1+1", "-1,5", "-1.5 m", " spaced ", "a\rb", "c\nd\x1b[2J", 'q"x', ""),
    *("'", "-"),
]
KINDS = ["=cmd()", "@x, or | so", "-1,5"]
SEPARATED = [(";", ","), (",", "."), ("\t", ",")]  # and decimal marks
TABLE = "table.csv --label =kind"


def rows_of(text, sep=","):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=sep))


def written(name, sep=","):
    return rows_of(Path(name).read_bytes().decode(), sep)


def write_rows(name, rows, sep=","):
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=sep, quoting=csv.QUOTE_ALL).writerows(rows)


@pytest.fixture(params=SEPARATED, ids=["semicolons", "commas", "tabs"])
def given(request, tmp_path, monkeypatch):
    """Start in a folder with a table of cells that tempt a writer to change them; return its rows."""
    monkeypatch.chdir(tmp_path)
    sep, decimal = request.param
    rng = np.random.default_rng(0)
    rows = [["-a", "note", "=kind", "007"]]
    for i in range(60):
        a, b = rng.normal(size=2) + 9 * (i % 3)
        numbers = [f"{-a:.2f}".replace(".", decimal), f"{b:+.3f}".replace(".", decimal)]
        rows.append([numbers[0], RISKY[i % len(RISKY)], KINDS[i % 3], numbers[1]])
    write_rows("table.csv", rows, sep)
    return rows, sep.replace("\t", ";")  # .csv files are not written with tabs


def test_parts_and_answers_have_the_cells_as_they_came(given):
    rows, sep = given
    succeed(f"convert {TABLE} --parts p=50,q=50 -o .")
    p, q = written("p.csv", sep), written("q.csv", sep)
    assert p[0] == q[0] == rows[0]
    assert sorted(p[1:] + q[1:]) == sorted(rows[1:])
    succeed(f"train {TABLE} --ignore note -e opf -o m.pf")
    found = rows_of(succeed("predict m.pf table.csv --proba --column @answer"), sep)
    assert [row[:4] for row in found] == rows
    assert found[0][4:] == [*(f"p({kind})" for kind in sorted(KINDS)), "'@answer"]
    assert [row[-1] for row in found[1:]] == [row[2] for row in rows[1:]]
    found = rows_of(succeed(f"cluster {TABLE} --ignore note --column =c"), sep)
    assert [row[:4] for row in found] == rows
    assert found[0][4] == "'=c"


def decide(action):
    """Decide about all suspects as one would in a spreadsheet; return the rows of the list."""
    with open("s.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    write_rows("d.csv", [[*rows[0]], *([*(row | {"decision": action}).values()] for row in rows)])
    return rows


def test_suggested_labels_are_those_of_the_table(given):
    rows, sep = given
    rows[10][2] = KINDS[1]
    write_rows("table.csv", rows, sep)
    succeed(f"audit {TABLE} --ignore note --suspects s.csv")
    (found,) = decide("change")
    assert (found["row"], found["given"], found["change_to"]) == ("9", KINDS[1], KINDS[0])
    succeed(f"audit {TABLE} --apply d.csv --out cleaned.csv")
    rows[10][2] = KINDS[0]
    assert written("cleaned.csv", sep) == rows
