"""The demo measures what it says and tells it on one page."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

pytest.importorskip("pandas")
sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
demo = pytest.importorskip("demo")
pytestmark = pytest.mark.filterwarnings("ignore")  # wrong labels make models warn


@pytest.fixture(scope="module")
def scores():
    return demo.measure({"iris": (load_iris, 1), "wine": (load_wine, 2)}, most=60)


@pytest.fixture(scope="module")
def page(scores, tmp_path_factory):
    experiment = demo.reproduce(
        demo.Settings(datasets=("iris",), classifiers=("opf", "fuzzy_opf", "knn1"), runs=2),
        tmp_path_factory.mktemp("demo"),
    )
    return demo.report(scores, demo.explain_one(), experiment, 12.0)


def test_scores_are_those_of_the_same_labels_by_hand(scores):
    X, y = load_iris(return_X_y=True)
    X_train, noisy, X_test, y_test = demo.split(X, y, 0.2, 60, 0)
    assert len(noisy) == 60
    expected = 100 * demo.OPFClassifier().fit(X_train, noisy).score(X_test, y_test)
    assert scores["plain OPF", 0.2]["iris"] == pytest.approx(expected)
    assert len(scores) == 2 * len(demo.contestants(4))


def test_a_fifth_of_the_training_labels_are_wrong_and_no_test_label():
    X, y = load_wine(return_X_y=True)
    X_train, noisy, _, y_test = demo.split(X, y, 0.2, 100, 0)
    _, right, _, y_clean = demo.split(X, y, 0.0, 100, 0)
    assert (noisy != right).sum() == 20
    assert np.array_equal(y_test, y_clean)


def test_the_page_tells_the_story(page, scores):
    assert re.findall(r"<h2 id=.*?>(.*?)</h2>", page) == [
        "Wrong labels",
        "Why this label?",
        "The paper&#x27;s Table I, in small",
        "What next?",
    ]
    mean = np.mean(list(scores[demo.OURS, 0.2].values()))
    assert f"<dd>{mean:.1f} %</dd>" in page
    for title in demo.contestants(4):
        assert page.count(f'<th scope="row">{title}</th>') == 2
    assert "Table I: accuracy on the test part" in page


def test_the_best_is_named_whoever_it_is(scores, page):
    means = {title: np.mean(list(values.values())) for (title, share), values in scores.items() if share}
    best = max(means, key=means.get)
    assert f"{best}, with {means[best]:.1f} %." in page
    turned = {
        place: dict.fromkeys(values, 50.0 if place[0] == demo.OURS else 90.0) for place, values in scores.items()
    }
    told = "".join(
        demo.wrong_labels(turned, {place: 50.0 if place[0] == demo.OURS else 90.0 for place in turned})
    )
    assert f"{demo.OURS}, with" not in told


def test_the_answer_ends_at_a_prototype(page):
    answer = demo.explain_one()
    assert answer.costs[-1] == 0
    assert answer.offer < answer.rival_offer
    assert page.count('viewBox="0 0 8 8"') == len(answer.images) == len(answer.costs) + 1


def test_the_page_asks_for_nothing_from_outside(page):
    assert "script-src 'none'" in page
    assert re.findall(r"(?:src|href|srcset)=\"(?!data:|#)", page) == []
