import numpy as np
import pandas as pd
import pytest

from pathforest.reproduction import contestants, runner, sources, store
from pathforest.reproduction.experiment import LANDSCAPE_COLUMNS, RESULT_COLUMNS, TIE_COLUMNS, Settings

FAST = ("opf", "fuzzy_opf", "fuzzy_opf_tree", "naive_bayes", "knn1")
SETTINGS = Settings(("iris", "boat_like"), FAST, runs=2)
SECONDS = ["fit_seconds", "predict_seconds", "tune_seconds"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("finished")
    return out, runner.reproduce(SETTINGS, out)


def numbers(experiment):
    return experiment.results.drop(columns=SECONDS)


def count_runs(monkeypatch):
    calls = []
    run = contestants.run
    monkeypatch.setattr(
        contestants, "run", lambda names, parts: calls.append(list(names)) or run(names, parts)
    )
    return calls


def test_results_have_a_row_per_dataset_run_and_classifier(finished):
    _, experiment = finished
    results = experiment.results
    assert tuple(results.columns) == RESULT_COLUMNS
    places = list(results[["dataset", "run", "classifier"]].itertuples(index=False, name=None))
    assert places == [(d, r, c) for d in SETTINGS.datasets for r in range(2) for c in FAST]


def test_landscapes_have_every_cell_of_every_search(finished):
    _, experiment = finished
    assert tuple(experiment.landscapes.columns) == LANDSCAPE_COLUMNS
    cells = experiment.landscapes.groupby("competition").size()
    assert cells["complete"] == 2 * 2 * 96
    assert cells["tree"] == 2 * 2 * 80


def test_ties_name_every_run(finished):
    _, experiment = finished
    assert tuple(experiment.ties.columns) == TIE_COLUMNS
    assert len(experiment.ties) == 4
    assert (experiment.ties["training_error"] == 0).all()


@pytest.mark.slow
def test_more_jobs_change_no_number(finished, tmp_path):
    _, experiment = finished
    other = runner.reproduce(SETTINGS, tmp_path, jobs=2)
    pd.testing.assert_frame_equal(numbers(other), numbers(experiment))
    pd.testing.assert_frame_equal(other.landscapes, experiment.landscapes)
    pd.testing.assert_frame_equal(other.ties, experiment.ties)


def test_another_seed_gives_other_splits(finished, tmp_path):
    _, experiment = finished
    other = runner.reproduce(SETTINGS._replace(seed=1), tmp_path)
    assert not other.landscapes["accuracy"].equals(experiment.landscapes["accuracy"])


def test_a_run_does_not_depend_on_the_other_datasets(finished, tmp_path):
    _, experiment = finished
    alone = runner.reproduce(SETTINGS._replace(datasets=("boat_like",)), tmp_path)
    expected = numbers(experiment)[experiment.results["dataset"] == "boat_like"].reset_index(drop=True)
    pd.testing.assert_frame_equal(numbers(alone), expected)


def test_a_finished_experiment_is_read_once_and_not_run(finished, monkeypatch):
    out, experiment = finished
    calls, reads, load = count_runs(monkeypatch), [], store.load
    monkeypatch.setattr(store, "load", lambda path, key: reads.append(path) or load(path, key))
    again = runner.reproduce(SETTINGS, out)
    assert calls == []
    assert sorted(reads) == sorted((out / "runs").rglob("*.json"))
    pd.testing.assert_frame_equal(again.results, experiment.results)


def test_only_what_is_missing_or_torn_is_run_again(finished, monkeypatch):
    out, experiment = finished
    (out / "runs" / "iris" / "001" / "knn1.json").unlink()
    torn = out / "runs" / "boat_like" / "000" / "fuzzy_opf.json"
    torn.write_bytes(torn.read_bytes()[:-5])
    calls = count_runs(monkeypatch)
    again = runner.reproduce(SETTINGS, out)
    assert sorted(calls) == [["fuzzy_opf"], ["knn1"]]
    pd.testing.assert_frame_equal(numbers(again), numbers(experiment))


def test_an_interrupted_experiment_goes_on(finished, monkeypatch, tmp_path):
    _, experiment = finished
    run, left = contestants.run, [3]

    def interrupted(names, parts):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return run(names, parts)

    monkeypatch.setattr(contestants, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.reproduce(SETTINGS, tmp_path)
    monkeypatch.undo()
    calls = count_runs(monkeypatch)
    pd.testing.assert_frame_equal(numbers(runner.reproduce(SETTINGS, tmp_path)), numbers(experiment))
    assert len(calls) == 4 * 4 - 3  # four groups of classifiers in four units


def test_progress_adds_up_to_one_also_when_resumed(finished, tmp_path):
    out, _ = finished
    for folder in (out, tmp_path):
        shares = []
        runner.reproduce(SETTINGS._replace(datasets=("boat_like",)), folder, advance=shares.append)
        assert sum(shares) == pytest.approx(1)
        assert min(shares) >= 0


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"preset": "dirty"}, "'dirty' is unknown; choose from paper, clean"),
        ({"runs": 0}, "runs=0"),
        ({"seed": -1}, "seed=-1"),
        ({"classifiers": ("opf", "knn7")}, "knn7"),
        ({"classifiers": ()}, "none"),
        ({"datasets": ()}, "no dataset"),
        ({"datasets": ("boats",)}, "'boats' is unknown; choose from .*boat"),
        ({"datasets": ("iris", "iris")}, "twice"),
        ({"datasets": ("electric_industrial",)}, "private"),
    ],
)
def test_bad_settings_are_refused_before_any_work(tmp_path, change, match):
    with pytest.raises(ValueError, match=match):
        runner.reproduce(SETTINGS._replace(**change), tmp_path)
    assert not any(tmp_path.iterdir())


def test_every_bundled_set_loads():
    for name in sources.BUNDLED:
        X, y = sources.load(name)
        assert X.dtype == np.float64
        assert len(X) == len(y) > 50
