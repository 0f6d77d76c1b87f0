"""The demo measures what it says and tells it on one page."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from browsers import Page
from sklearn.datasets import load_iris, load_wine

for needed in ("jinja2", "matplotlib", "pandas"):
    pytest.importorskip(needed)
spec = importlib.util.spec_from_file_location("demo", Path(__file__).parents[2] / "examples" / "demo.py")
demo = importlib.util.module_from_spec(spec)
spec.loader.exec_module(demo)
pytestmark = pytest.mark.filterwarnings("ignore")  # wrong labels make models warn


def test_scores_are_those_of_the_same_labels_by_hand():
    scores = demo.measure(
        {"iris": (load_iris, 2)}, 60, lambda n_features: {"plain OPF": demo.OPFClassifier()}
    )
    X, y = load_iris(return_X_y=True)
    for share in demo.SHARES:
        parts = [demo.split(X, y, share, 60, seed) for seed in range(2)]
        right = [demo.OPFClassifier().fit(*part[:2]).score(*part[2:]) for part in parts]
        assert scores["plain OPF", share]["iris"] == pytest.approx(100 * np.mean(right))


def test_a_fifth_of_the_training_labels_are_wrong_and_no_test_label():
    X, y = load_wine(return_X_y=True)
    _, noisy, _, y_test = demo.split(X, y, 0.2, 100, 0)
    _, right, _, y_clean = demo.split(X, y, 0.0, 100, 0)
    assert (noisy != right).sum() == 20
    assert np.array_equal(y_test, y_clean)


def test_the_page_has_scores_the_answer_and_the_experiment_and_asks_for_nothing(tmp_path):
    titles = list(demo.contestants(4))
    scores = {(title, share): {"iris": 99.0, "wine": 95.0} for title in titles for share in demo.SHARES}
    settings = demo.Settings(datasets=("iris",), classifiers=("opf", "naive_bayes", "knn1"), runs=2)
    text = demo.report(scores, *demo.explain_one(), demo.reproduce(settings, tmp_path), 12.0)
    Page(text)
    for part in ("<dd>97.0 %</dd>", "Table I: accuracy on the test part", 'viewBox="0 0 8 8"'):
        assert part in text
    for title in titles:
        assert text.count(f'<th scope="row">{title}</th>') == 2
