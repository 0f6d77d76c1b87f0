"""The demo measures what it says and tells it on one page."""

import importlib.util
from pathlib import Path

import pytest
from browsers import Page

for needed in ("jinja2", "matplotlib", "pandas"):
    pytest.importorskip(needed)
spec = importlib.util.spec_from_file_location("demo", Path(__file__).parents[2] / "examples" / "demo.py")
demo = importlib.util.module_from_spec(spec)
spec.loader.exec_module(demo)
pytestmark = pytest.mark.filterwarnings("ignore")  # wrong labels make models warn


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
