"""The accuracy experiment: resumed runs compare like with like, and the report copes with what there is."""

import argparse
import json
from itertools import product

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks.studies import accuracy, accuracy_report, problems
from benchmarks.studies.fingerprint import fingerprint

ARGS = argparse.Namespace(only="tiny", repeats=2)


def make_line(dataset="tiny", noise=0.0, repeat=0, classifier="OPF", accuracy=0.5, mark="now"):
    return {
        "fingerprint": mark, "dataset": dataset, "noise": noise, "repeat": repeat, "classifier": classifier,
        "accuracy": accuracy, "balanced": 0.5, "log_loss": 1.0, "seconds": 1.0,
    }  # fmt: skip


def write(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def calls(monkeypatch):
    """Makes the experiment tiny, and lists the runs in their order."""
    made = []

    def run(unit, name, data):
        made.append((*unit, name))
        dataset, noise, repeat = unit
        line = make_line(dataset, noise, repeat, name)
        del line["fingerprint"]
        return line

    monkeypatch.setattr(accuracy, "run", run)
    monkeypatch.setattr(accuracy, "CLASSIFIERS", {"OPF": None, "kNN, tuned": None})
    data = problems.Data(np.zeros((4, 1)), np.arange(4) % 2)
    monkeypatch.setattr(accuracy, "problems", lambda: {"tiny": lambda: data})
    return made


def test_a_finished_run_measures_nothing_again(tmp_path, calls):
    path = tmp_path / "results.jsonl"
    accuracy.measure(path, ARGS, "now")
    assert len(calls) == len(accuracy.read(path, "now")) == 2 * 3 * 2
    accuracy.measure(path, ARGS, "now")
    assert len(calls) == 12


def test_results_of_other_code_are_ignored_and_measured_again(tmp_path, calls, capsys):
    path = tmp_path / "results.jsonl"
    accuracy.measure(path, ARGS, "before")
    old = make_line()
    del old["fingerprint"]
    with path.open("a") as file:
        file.write(json.dumps(old) + "\n")
    calls.clear()
    accuracy.measure(path, ARGS, "now")
    assert len(calls) == 12
    assert "13 results of other code" in capsys.readouterr().err
    assert {line["fingerprint"] for line in accuracy.read(path, "now")} == {"now"}
    assert len(accuracy.read(path, "before")) == 12  # the file keeps them


def test_all_classifiers_of_a_repeat_run_together_even_if_one_is_there(tmp_path, calls):
    path = tmp_path / "results.jsonl"
    write(path, make_line(classifier="OPF"))
    accuracy.measure(path, ARGS, "now")
    assert calls[:2] == [("tiny", 0.0, 0, "OPF"), ("tiny", 0.0, 0, "kNN, tuned")]


def test_torn_lines_are_skipped_wherever_they_are(tmp_path, calls):
    path = tmp_path / "results.jsonl"
    whole = json.dumps(make_line())
    path.write_text(f'{whole}\n{whole[:30]}\n7\n{{"dataset": "tiny"}}\n{whole}\n{whole[:40]}')
    assert len(accuracy.read(path, "now")) == 2
    accuracy.measure(path, ARGS, "now")
    assert len(accuracy.read(path, "now")) == 2 + 12


def test_a_fingerprint_follows_sources_and_versions(tmp_path, monkeypatch):
    for folder in ("src/pathforest/__pycache__", "cpp/src", "benchmarks/studies"):
        (tmp_path / folder).mkdir(parents=True)
    files = ["src/pathforest/a.py", "cpp/src/b.cpp", "benchmarks/studies/c.py"]
    for name in files:
        (tmp_path / name).write_text("1")
    marks = {fingerprint("c", root=tmp_path)}
    (tmp_path / "src/pathforest/__pycache__/a.pyc").write_text("1")
    (tmp_path / "benchmarks/studies/other.py").write_text("1")
    assert fingerprint("c", root=tmp_path) in marks
    for name in files:
        (tmp_path / name).write_text("2")
        marks.add(fingerprint("c", root=tmp_path))
    monkeypatch.setattr("benchmarks.studies.fingerprint.version", lambda name: "0")
    marks.add(fingerprint("c", root=tmp_path))
    assert len(marks) == 5


NAMES = ["OPF", *(f"FuzzyOPFClassifierCV{preset}" for preset in ("", " linear", " kernel"))]
NAMES += ["kNN, tuned", "SVM-RBF, tuned"]


def report(tmp_path, monkeypatch, names, scores=()):
    monkeypatch.setattr(accuracy_report, "draw", lambda *args: None)
    lines = [
        make_line(dataset, noise, repeat, name, 0.01 * repeat + dict(scores).get(name, 0.8))
        for dataset, noise, repeat, name in product(("one", "two"), (0.0, 0.1), range(8), names)
    ]
    return accuracy_report.report(lines, tmp_path)


def test_every_bar_is_reported(tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, NAMES)
    assert text.count("| yes |") + text.count("| no |") == 2 * 4 + 3


@pytest.mark.parametrize("missing", NAMES)
def test_a_report_without_one_classifier_leaves_out_its_bars(missing, tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, [name for name in NAMES if name != missing])
    assert "| bar |" in text


@pytest.mark.parametrize("name", NAMES[1:4])
def test_each_of_ours_is_compared_with_opf(name, tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, NAMES, {name: 0.7})
    (bar,) = [line for line in text.splitlines() if line.startswith(f"| {name} significantly worse")]
    assert "one at 0%" in bar
    assert bar.endswith("| no |")


def test_a_report_says_how_to_read_it(tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, NAMES)
    for words in (
        "chosen on some of these datasets",
        "25 cells, C 0.1 to 1000",
        "clipped zeros",
        "uncorrected p",
    ):
        assert words in text


def test_missing_datasets_are_named(monkeypatch, tmp_path):
    monkeypatch.delenv("PATHFOREST_DATA", raising=False)
    assert "missing: boat" in problems.announce()
    assert "set PATHFOREST_DATA" in problems.announce()
    monkeypatch.setenv("PATHFOREST_DATA", str(tmp_path))
    (tmp_path / "boat.csv.gz").touch()
    here, missing = problems.announce().splitlines()
    assert "boat" in here
    assert "boat" not in missing
    assert "thyroid_ad, landsat_ad" in missing
