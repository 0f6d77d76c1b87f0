"""The report: its cells are the numbers, its sentences follow from them, and it needs nothing else."""

import re
from html.parser import HTMLParser
from itertools import product

import numpy as np
import pandas as pd
import pytest
from browsers import a_browser, a_page, faint_texts
from experiments import an_experiment, without

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from pathforest._reproduction import figures, published, report, tables
from pathforest._reproduction.experiment import CLASSIFIERS
from pathforest._reproduction.figures import cliques, landscape_figure, svg
from pathforest._reproduction.report import report_html
from pathforest._reproduction.statistics import summary
from pathforest._reproduction.tables import duration, percent, signed, times

TABLE_1 = "Table I: accuracy on the test part"
ODD = "<b>&|*_[x]</script>$a$"


@pytest.fixture(scope="module")
def found():
    return summary(an_experiment())


@pytest.fixture(scope="module")
def page(found):
    return report_html(found)


class Page(HTMLParser):
    """What a page says, the attributes of its elements, and those that were left open."""

    def __init__(self, text):
        super().__init__()
        self.text, self.open, self.attributes = "", [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.attributes += attributes
        if tag not in {"meta", "link"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open[-1:] == ["style"] else data


# Tables


def test_table_1_has_every_score_ours_above_the_paper_s(found):
    first, _ = tables.score_tables(found)
    for (dataset, name), ours in found.scores.iterrows():
        place = (published.TITLES.get(dataset, dataset), "ours"), CLASSIFIERS[name]
        shown = f"{ours['mean']:.4f} ± {ours['std']:.4f}\nF1 {ours['f1']:.4f}"
        assert first.cells.loc[place].replace(" ≠", "") == shown
        assert first.bold.loc[place] == ours["bold"]
    assert first.cells.loc[("Breast Tissue", "paper"), "Naive Bayes"] == "0.7083 ± 0.0768\nF1 0.7028"
    assert first.cells.loc[("Breast Tissue", "ours"), "Naive Bayes"].startswith("0.6400 ± 0.0768 ≠")
    assert first.bold.loc[("Boat", "paper")].tolist() == [True, True, False, True]


def test_datasets_come_in_the_paper_s_order_and_private_ones_with_its_scores_only(found):
    first, second = (table.cells for table in tables.score_tables(found))
    public = ["Boat", "Cone-Torus", "Data1", "Breast Tissue"]
    private = [(published.TITLES[name], "paper") for name in published.PRIVATE]
    assert first.index.tolist() == [*product(public, ["ours", "paper"]), *private, ("made", "ours")]
    assert list(first.columns) == [CLASSIFIERS[name] for name in published.CLASSIFIERS]
    assert list(second.columns) == list(CLASSIFIERS.values())
    assert second.index.tolist() == [*public, "made"]


def test_table_2_has_ratios_and_the_speed_up(found):
    by_opf, by_svm, seconds = (table.cells for table in tables.time_tables(found))
    # 0.00583 / 0.00062, all scaled by the same factor
    assert by_opf["Fuzzy OPF"].head(2).tolist() == ["9.4 ×", "9.4 ×"]
    assert by_svm.loc[("Boat", "ours"), ["OPF", "Fuzzy OPF"]].tolist() == ["0.0013 ×", "0.012 ×"]
    assert seconds["OPF"].head(2).tolist() == ["12.4 µs\nspeed-up 50 ×", "620 µs"]


def test_agreement_has_a_row_per_published_score(found):
    cells = tables.agreement_table(found).cells
    assert len(cells) == len(found.agreement) == 16
    ours = cells.loc[("Breast Tissue", "Naive Bayes")].tolist()
    assert ours == ["0.70833", "0.64000", "−0.06833", "−2.81", "differs ≠", "only the paper’s ≠"]
    assert (cells["Verdict"] == "agrees").sum() == 15


def test_every_cell_of_every_table_is_on_the_page(found, page):
    shown = [*tables.score_tables(found), *tables.time_tables(found), tables.agreement_table(found)]
    shown += [tables.gain_table(found), tables.sensitivity_table(found), tables.tie_table(found)]
    cells = re.findall(r'<td class="data.*?( best)?" >(.*?)</td>', page, re.DOTALL)
    expected = [
        (" best" if bold else "", text.replace("<", "&lt;"))
        for table in shown
        for text, bold in zip(table.cells.to_numpy().flat, table.bold.to_numpy().flat, strict=True)
    ]
    assert sorted(cells) == sorted(expected)


# Sentences


def test_agreement_is_counted_and_what_does_not_reproduce_is_named(found):
    text = report.agreement_sentence(found)
    assert "|z| <= 2 for OPF on 4 of 4 public sets, for Fuzzy OPF on 4 of 4," in text
    assert "for Naive Bayes on 3 of 4" in text
    said = report.disagreement_sentence(found)
    assert said.startswith("Not reproduced: Naive Bayes on Breast Tissue (z = −2.8). Chance alone")
    assert said.endswith("known not to reproduce: the paper has .708.")
    without_it = an_experiment(classifiers=("opf", "fuzzy_opf"))
    assert report.disagreement_sentence(summary(without_it)).startswith("Every score is within")


def test_more_runs_report_whether_verdicts_changed(found):
    assert report.changed_sentence(found) == ""
    experiment = an_experiment(runs=40)
    assert "same verdicts as the first 20" in report.changed_sentence(summary(experiment))
    results = experiment.results.copy()
    late = (results["run"] >= 20) & (results["dataset"] == "boat") & (results["classifier"] == "opf")
    results.loc[late, "accuracy"] -= 0.1
    said = report.changed_sentence(summary(experiment._replace(results=results)))
    assert said == "With 40 runs, verdicts change against the first 20: OPF on Boat now differs."


def test_the_summary_says_where_fuzzy_opf_does_not_help(found):
    results = found.experiment.results.copy()
    harmed = (results["dataset"] == "data1") & (results["classifier"] == "fuzzy_opf")
    results.loc[harmed, "accuracy"] -= 0.05
    text = report.gain_sentence(summary(found.experiment._replace(results=results)), "fuzzy_opf")
    assert "better than OPF on 1 of 5 (Cone-Torus)" in text
    assert "does not differ significantly on 3 of 5 (Boat, Breast Tissue and made)" in text
    assert "worse on 1 of 5 (Data1)" in text


def test_search_and_ties_are_summed_up(found):
    text = report.sensitivity_sentence(found)
    assert "Over the complete graph, 33 % of the cells" in text
    assert "along the tree, 0 % of the cells" in text
    assert report.tie_sentence(found).startswith(
        "On Data1 ties cost the textbook algorithm up to 30 % of its"
    )
    assert report.tie_sentence(found).endswith("ours loses none on any set.")


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
    "no published sets": lambda: an_experiment(datasets=("made", "made too")),
    "one run": lambda: an_experiment(runs=1),
    "more runs": lambda: an_experiment(runs=23),
    "one classifier": lambda: an_experiment(classifiers=("opf",)),
    "scores only": lambda: without(an_experiment(runs=1, datasets=("made",)), "ties", "landscapes"),
    "an odd name": lambda: an_experiment(datasets=(ODD, "boat"), preset="clean"),
}


@pytest.mark.parametrize("subset", SUBSETS)
def test_every_subset_has_a_whole_page_that_asks_for_nothing(subset):
    text = report_html(summary(SUBSETS[subset]()))
    parsed = Page(text)
    assert parsed.open == []
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", parsed.text)
    links = [value for name, value in parsed.attributes if name in ("href", "src", "xlink:href")]
    assert all(link.startswith(("#", "data:")) for link in links)
    ids = [value for name, value in parsed.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    used = [link[1:] for link in links if link.startswith("#")] + re.findall(r"url\(#(.*?)\)", text)
    assert set(used) <= set(ids)
    assert "script-src 'none'" in text
    assert f"numpy {np.__version__}" in text
    assert "--seed 0 --preset " in text
    shown = re.findall(r'<section id="(.*?)"', text)
    assert ("agreement" in shown) == (subset not in ("no published sets", "scores only"))
    assert ("ranks" in shown) == (subset not in ("one classifier", "scores only"))
    assert (ODD in parsed.text) == (subset == "an odd name")


def test_few_runs_have_no_marks_and_one_has_no_verdict_either():
    few, one = (summary(an_experiment(runs=runs, datasets=("boat",))) for runs in (5, 1))
    for found in (few, one):
        bold = tables.score_tables(found)[0].bold
        assert not bold.xs("ours", level=1).to_numpy().any()
        assert set(tables.agreement_table(found).cells["Bold marks"]) == {"–"}
    assert "needs 6 runs or more" in report_html(few)
    assert tables.score_tables(one)[0].cells.iloc[0, 0].startswith("0.9929\nF1")
    assert set(tables.agreement_table(one).cells["Verdict"]) == {"–"}
    assert "≠" not in report_html(one)


# Figures


def test_figures_show_the_numbers_in_the_colours_of_the_page(found):
    z = found.agreement.set_index(["classifier", "dataset"])["z"]
    drawn = {line.get_label(): line for line in figures.agreement_figure(found).axes[0].lines}
    assert drawn["OPF"].get_xdata().tolist() == pytest.approx(z["opf"].tolist())
    gains = {line.get_label(): line for line in figures.gain_figure(found).axes[0].lines}
    runs = found.experiment.results.pivot(index=["dataset", "run"], columns="classifier", values="accuracy")
    expected = 100 * (runs["fuzzy_opf"] - runs["opf"])
    assert sorted(gains["Fuzzy OPF, one run"].get_xdata()) == pytest.approx(sorted(expected))
    for name in ("agreement", "gains", "ranks"):
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


def test_cliques_are_the_longest_stretches_within_the_difference():
    ranks = pd.Series([1.0, 1.5, 2.2, 4.0, 4.4], index=list("abcde"))
    assert cliques(ranks, 1.0) == [(0, 1), (1, 2), (3, 4)]
    assert cliques(ranks, 10.0) == [(0, 4)]
    assert cliques(ranks, 0.1) == []


# In a browser


@pytest.fixture(scope="module")
def browser():
    with a_browser() as browser:
        yield browser


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_can_be_read_on_every_screen_and_on_paper(browser, page, tmp_path, width, scheme):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    address = (tmp_path / "report.html").as_uri()
    look = a_page(browser, width, scheme, allowed=lambda url: url == address or url.startswith("data:"))
    look.goto(address)
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
    assert len(regions) > 8
    assert set(regions) <= reached
    look.emulate_media(media="print")
    assert look.evaluate(ink) == light
    assert not look.locator("nav").is_visible()
