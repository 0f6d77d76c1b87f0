"""The report: its cells are the numbers, its sentences follow from them, and it needs nothing else."""

import re
from itertools import product

import numpy as np
import pytest
from browsers import Page
from experiments import an_experiment, without

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from pathforest._reproduction import published, tables
from pathforest._reproduction.experiment import CLASSIFIERS
from pathforest._reproduction.figures import landscape_figure
from pathforest._reproduction.report import report_html
from pathforest._reproduction.statistics import summary

ODD = "<b>&|*_[x]</script>$a$"


@pytest.fixture(scope="module")
def found():
    return summary(an_experiment())


@pytest.fixture(scope="module")
def page(found):
    return report_html(found)


# Tables


def test_table_1_has_every_score_ours_above_the_paper_s_and_in_its_order(found):
    first, second = tables.score_tables(found)
    for (dataset, name), ours in found.scores.iterrows():
        place = (published.TITLES.get(dataset, dataset), "ours"), CLASSIFIERS[name]
        shown = f"{ours['mean']:.4f} ± {ours['std']:.4f}\nF1 {ours['f1']:.4f}"
        assert first.cells.loc[place].replace(" ≠", "") == shown
        assert first.bold.loc[place] == ours["bold"]
    assert first.cells.loc[("Breast Tissue", "paper"), "Naive Bayes"] == "0.7083 ± 0.0768\nF1 0.7028"
    assert first.cells.loc[("Breast Tissue", "ours"), "Naive Bayes"].startswith("0.6400 ± 0.0768 ≠")
    assert first.bold.loc[("Boat", "paper")].tolist() == [True, True, False, True]
    public = ["Boat", "Cone-Torus", "Data1", "Breast Tissue"]
    private = [(published.TITLES[name], "paper") for name in published.PRIVATE]
    assert first.cells.index.tolist() == [*product(public, ["ours", "paper"]), *private, ("made", "ours")]
    assert list(first.cells.columns) == [CLASSIFIERS[name] for name in published.CLASSIFIERS]
    assert list(second.cells.columns) == list(CLASSIFIERS.values())
    assert second.cells.index.tolist() == [*public, "made"]


def test_every_cell_of_every_table_is_on_the_page(found, page):
    shown = [*tables.score_tables(found), *tables.time_tables(found), tables.agreement_table(found)]
    shown += [tables.gain_table(found)]
    cells = re.findall(r'<td class="data.*?( best)?" >(.*?)</td>', page, re.DOTALL)
    expected = [
        (" best" if bold else "", text.replace("<", "&lt;"))
        for table in shown
        for text, bold in zip(table.cells.to_numpy().flat, table.bold.to_numpy().flat, strict=True)
    ]
    assert sorted(cells) == sorted(expected)


# The page as a whole

SUBSETS = {
    "one classifier": lambda: an_experiment(datasets=("made", "made too"), classifiers=("opf",)),
    "scores only": lambda: without(an_experiment(("made", "boat"), runs=1), "landscapes"),
    "an odd name": lambda: an_experiment(datasets=(ODD, "boat"), preset="clean", runs=5),
}


OFTEN = "an odd name"


@pytest.mark.slow
@pytest.mark.parametrize(
    "subset", [pytest.param(name, marks=() if name == OFTEN else pytest.mark.ci) for name in SUBSETS]
)
def test_every_subset_has_a_whole_page_that_asks_for_nothing(subset):
    text = report_html(summary(SUBSETS[subset]()))
    parsed = Page(text)
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", parsed.text)
    for expected in ("script-src 'none'", f"numpy {np.__version__}", "--seed 0 --preset "):
        assert expected in text
    shown = re.findall(r'<section id="(.*?)"', text)
    assert ("agreement" in shown) == (subset != "one classifier")
    assert ("search" in shown) == (subset != "scores only")
    for odd in (ODD, "needs 6 runs or more", "≠"):
        assert (odd in parsed.text) == (subset == "an odd name")


# Figures


def test_landscapes_mark_the_cells_that_tie_with_the_best(found):
    panels = landscape_figure(found, "boat").axes[:2]
    assert [axes.images[0].get_array().shape for axes in panels] == [(6, 16), (5, 16)]
    assert [len(axes.lines[0].get_xdata()) for axes in panels] == [64, 80]
    assert set(panels[0].lines[0].get_ydata()) == {2, 3, 4, 5}
    landscapes = found.experiment.landscapes
    means = landscapes.groupby(["dataset", "competition", "sigma", "k_max"])["accuracy"].mean()
    assert panels[0].images[0].get_array()[0, 1] == pytest.approx(means["boat", "complete", 0.2, 10])
    flat = found._replace(experiment=found.experiment._replace(landscapes=landscapes.assign(accuracy=0.9)))
    low, high = landscape_figure(flat, "boat").axes[0].images[0].get_clim()
    assert high - low == pytest.approx(0.02)  # so that it looks flat
