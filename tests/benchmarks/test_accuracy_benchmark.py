"""The accuracy experiment: resumed runs compare like with like, and reports use the results there are."""

import argparse
from itertools import product

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")

from benchmarks.studies import accuracy, accuracy_report, problems


def make_line(dataset="tiny", noise=0.0, repeat=0, classifier="OPF", accuracy=0.5):
    return {
        "dataset": dataset, "noise": noise, "repeat": repeat, "classifier": classifier,
        "accuracy": accuracy, "balanced": 0.5, "log_loss": 1.0, "seconds": 1.0,
    }  # fmt: skip


@pytest.fixture
def calls(monkeypatch):
    """Makes the experiment tiny, and lists the runs in their order."""
    made = []

    def run(unit, name, data):
        made.append((*unit, name))
        return make_line(*unit, name)

    monkeypatch.setattr(accuracy, "run", run)
    monkeypatch.setattr(accuracy, "CLASSIFIERS", {"OPF": None, "kNN, tuned": None})
    data = problems.Data(np.zeros((4, 1)), np.arange(4) % 2)
    monkeypatch.setattr(accuracy, "problems", lambda: {"tiny": lambda: data})
    return made


@pytest.fixture
def args(tmp_path):
    return argparse.Namespace(only="tiny", repeats=2, report=False, out=tmp_path)


def test_a_finished_run_measures_nothing_again(args, calls):
    lines = accuracy.measure(args, "now")
    assert len(calls) == len(lines) == 2 * 3 * 2
    assert calls[:2] == [("tiny", 0.0, 0, "OPF"), ("tiny", 0.0, 0, "kNN, tuned")]
    assert accuracy.measure(args, "now") == lines
    assert len(calls) == 12


def test_results_of_other_code_or_classifiers_are_measured_again(args, calls, monkeypatch):
    accuracy.measure(args, "before")
    accuracy.measure(args, "now")
    assert len(calls) == 24
    monkeypatch.setitem(accuracy.CLASSIFIERS, "1-NN", None)
    accuracy.measure(args, "now")
    assert len(calls) == 24 + 18


def test_a_report_measures_nothing_and_says_how_much_is_missing(args, calls, capsys):
    args.repeats = 1
    accuracy.measure(args, "now")
    calls.clear()
    args.repeats, args.report = 2, True
    assert len(accuracy.measure(args, "now")) == 3 * 2
    assert calls == []
    assert "3 units have no results" in capsys.readouterr().err


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
    for words in ("some of these datasets", "25 cells, C 0.1 to 1000", "clipped zeros", "uncorrected p"):
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
