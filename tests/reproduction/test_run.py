import json

import pandas as pd
import pytest

from pathforest._reproduction import contestants, run
from pathforest._reproduction.experiment import Settings

FAST = ("opf", "fuzzy_opf", "fuzzy_opf_tree", "naive_bayes", "knn1")
SETTINGS = Settings(("iris", "boat_like"), FAST, runs=2)
SECONDS = ["fit_seconds"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("finished")
    return out, run.reproduce(SETTINGS, out)


def same(one, other, dataset=None):
    """Compare all but the seconds, of one dataset or of all."""
    for name in ("results", "landscapes"):
        tables = [getattr(this, name).drop(columns=SECONDS, errors="ignore") for this in (one, other)]
        if dataset:
            tables = [table[table["dataset"] == dataset].reset_index(drop=True) for table in tables]
        pd.testing.assert_frame_equal(*tables)


@pytest.fixture
def calls(monkeypatch):
    """Return the names of the classifiers of each call, as they come."""
    found, original = [], contestants.run
    monkeypatch.setattr(
        contestants, "run", lambda names, parts: found.append(names) or original(names, parts)
    )
    return found


@pytest.mark.ci
def test_more_jobs_change_no_number(finished, tmp_path):
    same(run.reproduce(SETTINGS, tmp_path, jobs=2), finished[1])


def test_the_seed_decides_the_splits_and_other_datasets_do_not(finished, tmp_path):
    settings = SETTINGS._replace(datasets=("boat_like",))
    alone, other = (run.reproduce(settings._replace(seed=seed), tmp_path) for seed in (0, 1))
    same(alone, finished[1], "boat_like")
    assert not other.landscapes["accuracy"].equals(alone.landscapes["accuracy"])


@pytest.mark.parametrize("end", [0, -1])
def test_only_what_is_missing_or_torn_is_run_again(finished, calls, end):
    out, experiment = finished
    (out / "runs" / "iris" / "001" / "knn1.json").unlink()
    torn = out / "runs" / "boat_like" / "000" / "opf.json"
    torn.write_bytes(torn.read_bytes()[:end])
    again = run.reproduce(SETTINGS, out)
    assert sorted(map(list, calls)) == [["knn1"], ["opf"]]
    same(again, experiment)
    calls.clear()
    pd.testing.assert_frame_equal(run.reproduce(SETTINGS, out).results, again.results)
    assert calls == []


@pytest.mark.parametrize("field", ["preset", "seed", "dataset", "run", "classifier", "data", "versions"])
def test_a_file_of_another_experiment_is_not_taken(finished, tmp_path, field):
    out, _ = finished
    content = json.loads((out / "runs" / "iris" / "000" / "opf.json").read_bytes())
    assert run._kept(out / "runs" / "iris" / "000" / "opf.json", content["key"]) == content["outcome"]
    for text in (json.dumps({**content, "key": content["key"] | {field: "other"}}), "[]", "3", "\0"):
        (tmp_path / "opf.json").write_text(text)
        assert run._kept(tmp_path / "opf.json", content["key"]) is None


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"preset": "dirty"}, "'dirty' is unknown; choose from paper, clean"),
        ({"classifiers": ("opf", "knn7")}, "knn7"),
        ({"datasets": ("iris", "iris")}, "twice"),
        ({"datasets": ("electric_industrial",)}, "private"),
    ],
)
def test_bad_settings_are_refused_before_any_work(tmp_path, change, match):
    with pytest.raises(ValueError, match=match):
        run.reproduce(SETTINGS._replace(**change), tmp_path)
    assert not any(tmp_path.iterdir())
