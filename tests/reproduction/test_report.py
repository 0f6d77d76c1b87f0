"""The report: its cells are the numbers, its sentences follow from them, and it needs nothing else."""

import re
from itertools import product

import numpy as np
import pytest
from browsers import Page, a_browser, a_page, faint_texts, looks
from experiments import an_experiment, without

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from pathforest._reproduction import figures, published, report, tables
from pathforest._reproduction.experiment import CLASSIFIERS
from pathforest._reproduction.figures import landscape_figure, svg
from pathforest._reproduction.report import report_html
from pathforest._reproduction.statistics import summary
from pathforest._reproduction.tables import duration, percent, signed, times

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


def test_table_2_has_ratios_and_the_speed_up_and_agreement_a_row_per_published_score(found):
    by_opf, by_svm, seconds = (table.cells for table in tables.time_tables(found))
    # 0.00583 / 0.00062, all scaled by the same factor
    assert by_opf["Fuzzy OPF"].head(2).tolist() == ["9.4 ×", "9.4 ×"]
    assert by_svm.loc[("Boat", "ours"), ["OPF", "Fuzzy OPF"]].tolist() == ["0.0013 ×", "0.012 ×"]
    assert seconds["OPF"].head(2).tolist() == ["12.4 µs\nspeed-up 50 ×", "620 µs"]
    cells = tables.agreement_table(found).cells
    ours = cells.loc[("Breast Tissue", "Naive Bayes")].tolist()
    assert ours == ["0.70833", "0.64000", "−0.06833", "−2.81", "differs ≠", "only the paper’s ≠"]
    assert cells["Verdict"].value_counts().to_dict() == {"agrees": 15, "differs ≠": 1}


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


# Sentences


def test_sentences_follow_from_the_numbers(found):
    said = report.agreement_sentence(found)
    assert "|z| <= 2 for OPF on 4 of 4 public sets, for Fuzzy OPF on 4 of 4," in said
    assert said.endswith("for Naive Bayes on 3 of 4. The bold mark is as published in 14 of 16 cells.")
    said = report.disagreement_sentence(found)
    assert said.startswith("Not reproduced: Naive Bayes on Breast Tissue (z = −2.8). Chance alone")
    without_it = summary(an_experiment(classifiers=("opf", "fuzzy_opf")))
    assert report.disagreement_sentence(without_it).startswith("Every score is within")
    worse = found.experiment.results.copy()
    worse.loc[(worse["dataset"] == "data1") & (worse["classifier"] == "fuzzy_opf"), "accuracy"] -= 0.05
    said = report.gain_sentence(summary(found.experiment._replace(results=worse)), "fuzzy_opf")
    assert "better than OPF on 1 of 5 (Cone-Torus)" in said
    assert "does not differ significantly on 3 of 5 (Boat, Breast Tissue and made)" in said
    assert "worse on 1 of 5 (Data1)" in said
    said = report.sensitivity_sentence(found)
    assert "Over the complete graph, 33 % of the cells" in said
    assert "along the tree, 0 % of the cells" in said


@pytest.mark.parametrize(
    ("write", "values", "texts"),
    [
        (signed, (0.126, -0.004, -1.0, np.inf, np.nan), "+0.13 | +0.00 | −1.00 | +∞ | –"),
        (times, (0.000084, 0.5, 9.44, 40.6, 1234.5), "0.000084 × | 0.5 × | 9.4 × | 41 × | 1200 ×"),
        (duration, (1.2e-5, 0.0009999, 0.5, 3, 150, 9000), "12 µs | 1 ms | 500 ms | 3 s | 2.5 min | 2.5 h"),
        (percent, (0, 0.0004, 0.0123, 0.333, 0.999, 1), "0 % | 0.0 % | 1.2 % | 33 % | 99.9 % | 100 %"),
    ],
)
def test_numbers_are_written_for_readers(write, values, texts):
    assert " | ".join(map(write, values)) == texts


# The page as a whole

SUBSETS = {
    "one classifier": lambda: an_experiment(datasets=("made", "made too"), classifiers=("opf",)),
    "scores only": lambda: without(an_experiment(("made", "boat"), runs=1), "landscapes"),
    "an odd name": lambda: an_experiment(datasets=(ODD, "boat"), preset="clean", runs=5),
}


@pytest.mark.slow
@pytest.mark.parametrize("subset", SUBSETS)
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


def test_figures_show_the_numbers_in_the_colours_of_the_page(found):
    z = found.agreement.set_index(["classifier", "dataset"])["z"]
    drawn = {line.get_label(): line for line in figures.agreement_figure(found).axes[0].lines}
    assert drawn["OPF"].get_xdata().tolist() == pytest.approx(z["opf"].tolist())
    gains = {line.get_label(): line for line in figures.gain_figure(found).axes[0].lines}
    runs = found.experiment.results.pivot(index=["dataset", "run"], columns="classifier", values="accuracy")
    expected = 100 * (runs["fuzzy_opf"] - runs["opf"])
    assert sorted(gains["Fuzzy OPF, one run"].get_xdata()) == pytest.approx(sorted(expected))
    for name in ("agreement", "gains"):
        text = svg(name, found)
        assert "var(--ink)" in text
        assert not any(color in text for color in figures.VARIABLES)
        assert text == svg(name, found)


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


# In a browser


@pytest.mark.ci
@looks
def test_the_page_can_be_read_on_every_screen_and_on_paper(page, tmp_path, width, scheme):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    with a_browser() as browser:
        address = (tmp_path / "report.html").as_uri()
        look = a_page(browser, width, scheme, allowed=lambda url: url == address or url.startswith("data:"))
        look.goto(address)
        read(look, width, scheme)


def read(look, width, scheme):
    assert look.problems == []
    assert look.evaluate("document.documentElement.scrollWidth") == width
    assert faint_texts(look, "main :is(p, td, th, li, dt, dd, h2, h4, figcaption)") == []
    outside = """() => Array.from(document.querySelectorAll("figure svg text")).filter((text) => {
        const [a, b] = [text, text.ownerSVGElement].map((e) => e.getBoundingClientRect());
        return a.left < b.left - 2 || a.right > b.right + 2 || a.top < b.top - 2 || a.bottom > b.bottom + 2;
    }).map((text) => text.textContent)"""
    assert look.evaluate(outside) == []
    ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
    light, dark = "rgb(27, 31, 36)", "rgb(231, 234, 238)"
    assert look.evaluate(ink) == (light if scheme == "light" else dark)
    reached = set()
    for _ in range(40):
        look.keyboard.press("Tab")
        reached.add(look.evaluate("document.activeElement.getAttribute('aria-label')"))
    regions = look.eval_on_selector_all("[role=region]", "all => all.map(e => e.getAttribute('aria-label'))")
    assert len(regions) >= 8
    assert set(regions) <= reached
    look.emulate_media(media="print")
    assert look.evaluate(ink) == light
    assert not look.locator("nav").is_visible()
