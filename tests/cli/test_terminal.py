"""Files made to act on a terminal: what commands and errors show of them is only printed."""

import csv
import io
import sys

import numpy as np
import pytest
from commands import X, codes

import pathforest
from pathforest._cli.entrypoint import app
from pathforest.datasets import read, write
from pathforest.libopf import read_distances, read_model, read_positions

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such names of files there")

# Clears the screen, sets the title, the same in one character, goes back, turns the text around, ends lines.
FILE = "f\x1b[2J\x1b]0;x\x07\x9b2J\r\b\u202e\x7f\nFORGED" + "\udcff" * (sys.platform == "linux")
TEXT = "t\x1b[2J\x1b]0;x\x07\x9b2J\r\b\u202e\x7f\nFORGED\0[/x]"  # and what rich takes for markup
NAMES = [f"{name}{TEXT}" for name in ("kind", "note", "a", "b", "c", "d")]
KINDS = np.array([f"{kind}{TEXT}" for kind in range(3)])[codes]
QUICK = "--set k_max=5 --set sigmas=1 --set cv=2"

WORDS = {"DATA": f"{FILE}.csv", "MODEL": f"{FILE}.pf", "FILE": FILE, "TEXT": TEXT}
TABLE = "DATA -l 0 --ignore 1"
LINES = f"""
info DATA -l 0
info MODEL
info BROKEN.csv
audit {TABLE} --suspects FILE.tsv -o FILE.html
audit {TABLE} --image-shape TEXT
convert DATA -l 0 --parts 2 -o FILE --json
train {TABLE} -e opf --learn DATA --prune DATA -o FILE.opf
train {TABLE} {QUICK} --table FILE.csv.gz -o FILE.cv
train {TABLE} -o FILE/missing
predict MODEL DATA
predict MODEL DATA -o FILE.csv.gz
predict MODEL BROKEN.csv
predict MODEL DATA --explain 0-4
evaluate MODEL DATA -l 0 --json
evaluate MODEL OTHER.csv -l 0
cluster {TABLE}
reproduce --out DATA --quick
TEXT
--TEXT
info DATA TEXT
train DATA --jobs TEXT
""".strip().splitlines()  # the last four are answered by click of its own accord
EXPERIMENT = "reproduce --datasets iris --classifiers opf,fuzzy_opf --runs 1 --jobs 1 --out FILE.report"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Make a folder with files that are hostile from their names to their cells."""
    folder = tmp_path_factory.mktemp("hostile")

    def write_csv(name, rows):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)

    rows = [[kind, TEXT, *row] for kind, row in zip(KINDS.tolist(), X.tolist(), strict=True)]
    write_csv(f"{FILE}.csv", [NAMES, *rows[::3]])
    write_csv("OTHER.csv", [NAMES, [f"new{TEXT}", *rows[0][1:]]])
    write_csv("BROKEN.csv", [NAMES[:3], [TEXT]])
    model = pathforest.OPFClassifier().fit(X, KINDS)
    model.feature_names_in_ = np.array(NAMES[2:], dtype=object)
    model.save(folder / f"{FILE}.pf")
    return folder


class Terminal(io.TextIOWrapper):
    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogatepass", newline="")

    def isatty(self):
        return True

    def seen(self):
        self.flush()
        return self.buffer.getvalue().decode(errors="surrogatepass")


@pytest.mark.parametrize("line", [*LINES, pytest.param(EXPERIMENT, marks=pytest.mark.slow)])
def test_no_command_lets_a_file_act_on_the_terminal(hostile, monkeypatch, line):
    monkeypatch.chdir(hostile)
    monkeypatch.setenv("TERM", "dumb")  # rich styles nothing, so every control character is from a file
    monkeypatch.setattr("pathforest._utils.progress.DELAY", 10**9)  # a bar goes back to the start of its line
    out, error = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", error)
    words = line.split()
    for name, text in WORDS.items():
        words = [word.replace(name, text) for word in words]
    with pytest.raises(SystemExit):
        app(words)
    seen = out.seen() + error.seen()
    assert seen.strip()
    assert [c for c in seen if not (c.isprintable() or c in "\n\t")] == []
    is_data = words[0] in ("predict", "cluster")  # cells of CSV files may have lines
    assert is_data or not any(text.startswith("FORGED") for text in seen.split("\n"))


def writing(ending):
    """Return a call that fails to write a file."""
    return lambda path: write(f"{path.removesuffix('.npz')}{ending}", [[1.0]], [1])


@pytest.mark.parametrize(
    "call",
    [
        *(read, pathforest.load, read_model, read_distances, read_positions),
        *map(writing, ("/missing.csv", "/", ".csv/", ".xyz")),
    ],
)
def test_errors_of_the_library_show_names_of_files_escaped(tmp_path, call):
    (tmp_path / f"{FILE}.csv").mkdir()
    (tmp_path / f"{FILE}.npz").write_bytes(bytes(20))
    with pytest.raises((ValueError, OSError), match="FORGED") as caught:
        call(f"{tmp_path}/{FILE}.npz")
    assert str(caught.value).isprintable()
