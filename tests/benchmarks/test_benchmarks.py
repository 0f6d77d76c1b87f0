"""The benchmarks: what is interrupted resumes, and contenders take turns."""

from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not part of an installed package")
pytest.importorskip("pandas")

from benchmarks import study
from benchmarks.speed import measure
from benchmarks.speed.contender import Contender


def echo(name, number):
    if name == "broken":
        raise RuntimeError("too few samples")
    return [{"name": name, "number": number}]


def test_a_study_measures_what_is_missing_and_goes_on_after_a_failure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "ProcessPoolExecutor", lambda jobs, **options: ThreadPoolExecutor(jobs))
    file, units = tmp_path / "study.jsonl", [("a", 1), ("broken", 2), ("a", 3)]
    found = study.measured(file, units, echo, 1)
    assert found == {("a", 1): echo("a", 1), ("a", 3): echo("a", 3)}
    assert "too few samples" in capsys.readouterr().err
    file.write_text(file.read_text()[:-9])  # a line that was not finished
    again = study.measured(file, [("a", 1), ("a", 3)], echo, 1)
    assert (again, capsys.readouterr().err) == (found, "2 of 2: ('a', 3)\n")
    monkeypatch.setattr(study, "about", lambda: {"code": "other"})
    study.measured(file, [("a", 1)], echo, 1)
    assert "1 of 1: ('a', 1)" in capsys.readouterr().err


def test_contenders_take_turns(monkeypatch):
    calls = []
    racers = {
        name: Contender("numpy", lambda p, threads, name=name: lambda: calls.append(name), lambda p, r: {})
        for name in "ab"
    }
    monkeypatch.setattr(measure, "load", lambda spec: None)
    monkeypatch.setattr(measure, "SHORTEST", 0.0)
    assert [len(one.times) for one in measure.race(None, racers, 1, 3).values()] == [3, 3]
    assert "".join(calls[-6:]) == "ababab"
