"""The report: its cells are the numbers, its sentences follow from them, and it needs nothing else."""

import os
import re
import sys
from functools import cache
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from experiments import DATASETS, an_experiment, without

pytest.importorskip("plotly")
pytest.importorskip("rich")

from pathforest.reproduction import findings, page, published, statistics, tables
from pathforest.reproduction.experiment import CLASSIFIERS
from pathforest.reproduction.figures.ranks import cliques, rank_figure
from pathforest.reproduction.figures.samples import MOST_POINTS, dataset_figure, usual_k_max
from pathforest.reproduction.figures.search import landscape_figure
from pathforest.reproduction.figures.ties import tie_figure
from pathforest.reproduction.formats import duration, percent, ratio, signed
from pathforest.reproduction.page import report_html, write_report
from pathforest.reproduction.summary import tables_markdown, terminal_table

TABLE_1 = "Table I: accuracy on the test part"
ODD = "<b>&|*_[x]</script>"
VOID = {"meta", "link", "br", "img", "input"}


class Page(HTMLParser):
    """Tables as lists of rows of text, elements with their attributes, and those that were left open."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.elements, self.open, self.bold, self.scripts, self.text = {}, [], [], [], [], ""
        self.feed(text)

    def values(self, *names):
        """Values of these attributes, in the order of the page."""
        return [attributes[name] for _, attributes in self.elements for name in names if name in attributes]

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "caption":
            self.caption = ""
        if tag == "tr":
            self.row = []
        if tag in ("td", "th"):
            self.row.append("")
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "caption":
            self.rows = self.tables.setdefault(self.caption, [])
        if tag == "tr":
            self.rows.append(self.row)

    def handle_data(self, data):
        if "script" in self.open:
            self.scripts[-1] += data
            return
        if "style" in self.open:
            return
        self.text += data
        if "caption" in self.open:
            self.caption += data
        if {"td", "th"} & set(self.open):
            self.row[-1] += data
            if "strong" in self.open:
                self.bold.append(data)


@pytest.fixture(scope="module")
def experiment():
    return an_experiment()


@pytest.fixture(scope="module")
def parsed(experiment):
    return Page(report_html(experiment))


SUBSETS = {
    "no published sets": lambda: an_experiment(datasets=("made", "made too")),
    "no sets of two features": lambda: an_experiment(datasets=("breast_tissue",)),
    "one run": lambda: an_experiment(runs=1),
    "two runs": lambda: an_experiment(runs=2),
    "more runs": lambda: an_experiment(runs=23),
    "no SVM": lambda: an_experiment(classifiers=("opf", "fuzzy_opf")),
    "no OPF": lambda: an_experiment(classifiers=("fuzzy_opf", "svm_linear")),
    "no classifier of the paper": lambda: an_experiment(classifiers=("knn1", "fuzzy_opf_tree")),
    "one classifier": lambda: an_experiment(classifiers=("opf",)),
    "no ties": lambda: without(an_experiment(), "ties"),
    "no landscapes": lambda: without(an_experiment(), "landscapes"),
    "neither": lambda: without(an_experiment(runs=1, datasets=("made",)), "ties", "landscapes"),
    "no samples": lambda: an_experiment()._replace(samples={}),
    "an odd name": lambda: an_experiment(datasets=(ODD, "boat")),
    "the clean preset": lambda: an_experiment(preset="clean"),
}
subsets = pytest.mark.parametrize("subset", SUBSETS)


@cache
def page_of(subset):
    """The page of a subset; several tests look at each."""
    return report_html(SUBSETS[subset]())


def markdown_rows(text, title):
    """Cells of the table under a title, without its header; the paper's rows have no heading."""
    table = text.split(f"## {title}\n")[1].split("\n## ")[0]
    rows = [line[2:-2].split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return rows[2:]


# Table I


def scores_beside(experiment, rows):
    """Our scores of Table I, the paper's, and the text of their cells in rows by title."""
    scores = statistics.summarise(experiment.results, published.CLASSIFIERS)
    for dataset, classifier in product(DATASETS, published.CLASSIFIERS):
        text = rows[published.TITLES.get(dataset, dataset)][published.CLASSIFIERS.index(classifier)]
        yield scores.loc[dataset, classifier], published.SCORES.get((dataset, classifier)), text


def test_table_1_has_every_score_in_the_page(experiment, parsed):
    rows = {row[0]: row[1:] for row in parsed.tables[TABLE_1][1:]}
    for ours, theirs, text in scores_beside(experiment, rows):
        assert text.startswith(f"{ours['mean']:.4f} ± {ours['std']:.4f}")
        assert f"F1 {ours['f1']:.4f}" in text
        shown = f"paper {theirs.mean:.4f} ± {theirs.std:.4f}F1 {theirs.f1:.4f}" if theirs else ""
        assert text.endswith(shown)


def test_table_1_has_every_score_in_markdown(experiment):
    lines = markdown_rows(tables_markdown(experiment), TABLE_1)
    rows = {row[0]: row[2:] for row in lines if row[1] == "ours"}
    for ours, _, text in scores_beside(experiment, rows):
        shown = f"{ours['mean']:.4f} ± {ours['std']:.4f}"
        bold = f"**{shown}**" if ours["bold"] else shown
        assert text == f"{bold}, F1 {ours['f1']:.4f}"


def test_bold_marks_of_the_page_are_those_of_the_test(experiment):
    parsed = Page(page._scores(experiment)[1])
    ours = statistics.summarise(experiment.results, published.CLASSIFIERS)["bold"].sum()
    shown = [name for name in published.TITLES if name in DATASETS or name in published.PRIVATE]
    theirs = published.TABLE.loc[shown, "bold"].sum()
    assert len(parsed.bold) == ours + theirs


def test_datasets_come_in_the_paper_s_order_then_others(parsed):
    names = [row[0] for row in parsed.tables[TABLE_1][1:]]
    private = [f"{published.TITLES[name]}private, not available" for name in published.PRIVATE]
    assert names == ["Boat", "Cone-Torus", "Data1", "Breast Tissue", *private, "made"]


def test_private_sets_have_the_paper_s_scores_only(experiment):
    rows = markdown_rows(tables_markdown(experiment), TABLE_1)
    place = [row[0] for row in rows].index("Elec. Ind. Prof. (private, not available)")
    assert rows[place][1:] == ["ours", *["–"] * 4]
    assert rows[place + 1][-1] == "0.4075 ± 0.0212, F1 0.5175"


def test_scores_show_their_z_on_hover(experiment, parsed):
    table = statistics.agreement(experiment.results)
    titles = parsed.values("title")
    assert len(titles) == len(table)
    z = table.set_index(["dataset", "classifier"]).loc[("breast_tissue", "naive_bayes"), "z"]
    assert f"z = −{abs(z):.2f}: differs from the paper" in titles


def test_classifiers_beyond_the_paper_compete_in_a_table_of_their_own(experiment):
    first, second = tables.score_grids(experiment)
    assert first.header[1:] == tuple(CLASSIFIERS[name] for name in published.CLASSIFIERS)
    assert second.header[1:] == tuple(CLASSIFIERS.values())


def test_the_terminal_shows_table_1(experiment):
    from rich.console import Console

    with open(os.devnull, "w") as nowhere:
        console = Console(width=80, record=True, file=nowhere)
        console.print(terminal_table(experiment))
    text = console.export_text()
    assert "0.6400±0.0768 ≠" in text
    assert "private" in text
    assert text.count("0.7083±0.0768") == 1
    assert "…" not in text  # nothing is cut off at 80 characters


# Table II


def test_table_2_has_ratios_and_the_speed_up(experiment):
    text = tables_markdown(experiment)
    rows = markdown_rows(text, "Table II: training time as a multiple of OPF")
    assert rows[0][:3] == [
        "Boat",
        "ours",
        "9.4 ×",
    ]  # 0.00583 / 0.00062, all scaled by the same factor
    assert rows[1][1:3] == ["paper", "9.4 ×"]
    rows = markdown_rows(text, "Table II: training time as a multiple of SVM (linear)")
    assert rows[0][:4] == ["Boat", "ours", "0.0013 ×", "0.012 ×"]
    rows = markdown_rows(text, "Table II: mean training time, and the speed-up over the paper")
    assert rows[0][:3] == ["Boat", "ours", "12.4 µs, speed-up 50.0 ×"]
    assert rows[1][1:3] == ["paper", "620 µs"]


# Agreement


def test_agreement_has_a_row_per_published_score(experiment, parsed):
    rows = parsed.tables["Agreement with the published scores"][1:]
    table = statistics.agreement(experiment.results)
    shown = {
        (published.TITLES[line.dataset], CLASSIFIERS[line.classifier]): (
            f"{line.published:.5f}",
            f"{line.ours:.5f}",
            "agrees" if line.agrees else "differs",
        )
        for line in table.itertuples()
    }
    assert {(row[0], row[1]): (row[2], row[3], row[6].removesuffix(" ≠")) for row in rows} == shown


def test_what_does_not_reproduce_lists_the_flagged_cells_only(experiment, parsed):
    table = statistics.agreement(experiment.results)
    flagged = table[~(table["agrees"] & table["bold_agrees"])]
    rows = parsed.tables["Scores or bold marks that differ"][1:]
    assert {(row[0], row[1]) for row in rows} == {
        (published.TITLES[line.dataset], CLASSIFIERS[line.classifier]) for line in flagged.itertuples()
    }


def test_agreement_is_counted(experiment, parsed):
    for text in (tables_markdown(experiment), parsed.text):
        assert "|z| <= 2 for OPF on 4 of 4 public sets, for Fuzzy OPF on 4 of 4," in text
        assert "for Naive Bayes on 3 of 4" in text


def test_naive_bayes_on_breast_tissue_is_reported_as_known(experiment):
    assert "known not to reproduce: the paper has .708" in findings.disagreement_sentence(experiment)
    results = experiment.results[experiment.results["classifier"] != "naive_bayes"]
    assert "known" not in findings.disagreement_sentence(experiment._replace(results=results))


def test_more_runs_report_whether_verdicts_changed():
    experiment = an_experiment(runs=40)
    results = experiment.results.copy()
    assert "same verdicts as the first 20" in findings.changed_sentence(experiment)
    assert findings.changed_sentence(an_experiment(runs=20)) == ""
    late = (results["run"] >= 20) & (results["dataset"] == "boat") & (results["classifier"] == "opf")
    results.loc[late, "accuracy"] -= 0.1
    changed = experiment._replace(results=results)
    assert "verdicts change against the first 20: OPF on Boat now differs" in tables_markdown(changed)
    parsed = Page("".join(page._differences(changed)))
    assert parsed.tables["Verdicts that more runs change"][1][:2] == ["Boat", "OPF"]


# Fuzzy OPF against OPF


def test_gains_are_the_mean_differences(experiment):
    table = statistics.gains(experiment.results).set_index(["dataset", "classifier"])
    runs = experiment.results.pivot(index=["dataset", "run"], columns="classifier", values="accuracy")
    for dataset, classifier in table.index:
        difference = (runs[classifier] - runs["opf"])[dataset]
        assert table.loc[(dataset, classifier), "gain"] == pytest.approx(difference.mean())
        expected = statistics.p_value(runs[classifier][dataset], runs["opf"][dataset])
        assert table.loc[(dataset, classifier), "p_value"] == expected


def test_one_run_has_no_p_value():
    assert statistics.gains(an_experiment(runs=1).results)["p_value"].isna().all()


def test_the_summary_says_where_fuzzy_opf_does_not_help(experiment):
    results = experiment.results.copy()
    harmed = (results["dataset"] == "data1") & (results["classifier"] == "fuzzy_opf")
    results.loc[harmed, "accuracy"] -= 0.05
    text = findings.gain_sentence(experiment._replace(results=results))
    assert "better than OPF on 1 of 5 (Cone-Torus)" in text
    assert "does not differ significantly on 3 of 5 (Boat, Breast Tissue and made)" in text
    assert "worse on 1 of 5 (Data1)" in text


@pytest.mark.parametrize(("runs", "step"), [(4, 1), (12, 1), (20, 2), (100, 9)])
def test_the_axis_of_ties_shows_whole_runs(runs, step):
    axis = tie_figure(an_experiment(runs=runs)).layout.xaxis
    assert (axis.tick0, axis.dtick) == (1, step)


def test_hover_texts_are_sentences_without_a_box_beside_them(experiment):
    for drawn in (tie_figure(experiment), dataset_figure(experiment.samples["boat"])):
        for trace in drawn.data:
            assert trace.hovertemplate.endswith("<extra></extra>")
            name = "textbook algorithm" if trace.name.startswith("textbook") else trace.name
            assert trace.hovertemplate.startswith((f"{name}, ", f"{name}: "))


def test_ties_are_shown_on_data1_or_on_the_set_that_loses_most(experiment):
    assert findings.tie_focus(experiment) == "data1"
    others = experiment.ties[experiment.ties["dataset"] != "data1"].copy()
    others.loc[others["dataset"] == "made", "textbook_error"] += 0.1
    assert findings.tie_focus(experiment._replace(ties=others)) == "made"
    assert "up to 30 % of its training labels" in findings.tie_sentence(experiment)
    assert "ours loses none" in findings.tie_sentence(experiment)


def test_sensitivity_is_reported_for_both_competitions(experiment):
    text = findings.sensitivity_sentence(experiment)
    assert "Over the complete graph, 33 % of the cells" in text
    assert "along the tree, 0 % of the cells" in text


# The page as a whole


def test_elements_are_closed_and_links_lead_somewhere(parsed):
    assert parsed.open == []
    ids = parsed.values("id")
    assert len(ids) == len(set(ids))
    inside = [link.removeprefix("#") for link in parsed.values("href") if link.startswith("#")]
    assert len(inside) > 8
    assert set(inside) <= set(ids)


@subsets
def test_every_subset_has_a_whole_page_that_asks_for_nothing(subset):
    text = page_of(subset)
    parsed = Page(text)
    assert parsed.open == []
    assert len(text.encode()) < 10_000_000
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", parsed.text)
    assert all(len(row) == len(rows[0]) for rows in parsed.tables.values() for row in rows)
    assert all(link.startswith(("#", "data:")) for link in parsed.values("href", "src"))
    assert not {"iframe", "object", "embed", "base", "form"} & {tag for tag, _ in parsed.elements}
    style = text.partition("<style>")[2].partition("</style>")[0]
    assert "@import" not in style
    assert "url(" not in style
    assert sum("plotly.js v" in script[:300] for script in parsed.scripts) == 1


@subsets
def test_every_subset_has_its_tables(subset):
    experiment = SUBSETS[subset]()
    text = tables_markdown(experiment)
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", text)
    terminal_table(experiment)
    for table in re.findall(r"(?:^\| .*\n)+", text, flags=re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_without_published_sets_a_sentence_takes_the_place_of_agreement():
    parsed = Page(page_of("no published sets"))
    assert "nothing to agree with" in parsed.text
    assert "differences" not in parsed.values("id")
    assert "Agreement with the published scores" not in parsed.tables
    assert "private" not in parsed.text


def test_one_run_has_neither_spread_nor_verdicts():
    experiment = an_experiment(runs=1)
    parsed = Page(page_of("one run"))
    first = parsed.tables[TABLE_1][1][1]
    assert first.startswith("0.9929F1")
    assert "≠" not in parsed.text
    assert {row[6] for row in parsed.tables["Agreement with the published scores"][1:]} == {"–"}
    ours = markdown_rows(tables_markdown(experiment), TABLE_1)
    assert not any("**" in text for row in ours if row[1] == "ours" for text in row)


def test_odd_names_are_shown_as_they_are():
    experiment = SUBSETS["an odd name"]()
    text = page_of("an odd name")
    parsed = Page(text)
    assert [row[0] for row in parsed.tables[TABLE_1]][-1] == ODD
    assert ("b", {}) not in parsed.elements
    assert parsed.scripts[-1].lstrip().startswith("// Draws every figure")
    # plotly reads tags in its texts, so they are escaped there as well
    assert "\\u003cb\\u003e" not in text
    assert r"&lt;b>&amp;\|\*\_\[x\]&lt;/script>" in tables_markdown(experiment)


def test_a_page_is_complete_before_it_takes_its_place(experiment, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    seen = []
    replace = os.replace

    def watch(source, target):
        seen.append((path.read_text(), Path(source).read_text(encoding="utf-8")))
        replace(source, target)

    monkeypatch.setattr(page, "report_html", lambda experiment: "<p>σ</p>\n")
    monkeypatch.setattr(os, "replace", watch)
    write_report(experiment, str(path))
    assert seen == [("old", "<p>σ</p>\n")]
    assert path.read_text(encoding="utf-8") == "<p>σ</p>\n"
    assert list(tmp_path.iterdir()) == [path]


def test_settings_versions_machine_and_command_are_reported(experiment, parsed):
    text = parsed.text
    assert f"numpy {np.__version__}" in text
    assert "pathforest reproduce --datasets made,data1,boat" in text
    assert "--runs 20 --seed 0 --preset paper" in text
    assert "logical cores" in text


def test_every_table_region_can_be_reached_by_keyboard(parsed):
    regions = [attributes for tag, attributes in parsed.elements if attributes.get("role") == "region"]
    assert len(regions) >= len(parsed.tables)
    assert all(region["tabindex"] == "0" and region["aria-label"] for region in regions)


def test_the_report_is_the_same_every_time(experiment, parsed):
    again = Page(report_html(experiment))
    assert again.tables == parsed.tables
    assert again.scripts == parsed.scripts
    assert again.elements == parsed.elements


# Figures


def test_landscapes_mark_the_cells_that_tie_with_the_best(experiment):
    figure = landscape_figure(experiment, "boat")
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    dots = [trace for trace in figure.data if trace.type == "scatter"]
    assert [np.shape(trace.z) for trace in maps] == [(6, 16), (5, 16)]
    assert [len(trace.x) for trace in dots] == [64, 80]
    assert set(dots[0].y) == {"0.6", "0.8", "1", "1.2"}
    means = experiment.landscapes.groupby(["dataset", "competition", "sigma", "k_max"])["accuracy"].mean()
    assert maps[0].z[0][1] == pytest.approx(means["boat", "complete", 0.2, 10])


def test_flat_landscapes_look_flat(experiment):
    flat = experiment.landscapes.assign(accuracy=0.9)
    axis = landscape_figure(experiment._replace(landscapes=flat), "boat").layout.coloraxis
    assert axis.cmax - axis.cmin == pytest.approx(0.02)


def test_cliques_are_the_longest_stretches_within_the_difference():
    import pandas as pd

    ranks = pd.Series([1.0, 1.5, 2.2, 4.0, 4.4], index=list("abcde"))
    assert cliques(ranks, 1.0) == [(0, 1), (1, 2), (3, 4)]
    assert cliques(ranks, 10.0) == [(0, 4)]
    assert cliques(ranks, 0.1) == []


def test_ranks_need_two_datasets():
    assert rank_figure(an_experiment(datasets=("boat",))) is None


def test_large_datasets_are_thinned_out(experiment):
    X = np.random.default_rng(0).normal(size=(5000, 2))
    samples = experiment.samples["boat"]._replace(X=X, y=np.arange(5000) % 2)
    assert sum(len(trace.x) for trace in dataset_figure(samples).data) == MOST_POINTS


def test_membership_uses_the_k_max_that_was_chosen_most(experiment):
    results = experiment.results.copy()
    results.loc[results["run"] < 12, "k_max"] = 30
    assert usual_k_max(experiment._replace(results=results), "boat") == 30
    assert usual_k_max(an_experiment(classifiers=("opf",)), "boat") == 100


# Numbers and imports


@pytest.mark.parametrize(
    ("write", "values", "texts"),
    [
        (signed, (0.126, -0.004, -1.0, np.inf, np.nan), "+0.13 | +0.00 | −1.00 | +∞ | –"),
        (ratio, (0.000084, 0.5, 9.44, 40.5, 1234.5), "0.000084 | 0.5 | 9.4 | 40.5 | 1,234"),
        (duration, (1.2e-5, 0.0009999, 0.5, 3, 150, 9000), "12 µs | 1 ms | 500 ms | 3 s | 2.5 min | 2.5 h"),
        (percent, (0, 0.0004, 0.0123, 0.333, 0.999, 1), "0 % | 0.0 % | 1.2 % | 33 % | 99.9 % | 100 %"),
    ],
)
def test_numbers_are_written_for_readers(write, values, texts):
    assert " | ".join(map(write, values)) == texts


@pytest.mark.parametrize(
    ("module", "write"), [("plotly.offline", report_html), ("rich.table", terminal_table)]
)
def test_without_a_library_the_error_says_how_to_get_it(experiment, monkeypatch, module, write):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pathforest\[reproduce\]"):
        write(experiment)


@pytest.mark.usefixtures("parsed")
def test_an_experiment_is_left_as_it_was(experiment):
    tables_markdown(experiment)
    for part in ("results", "landscapes", "ties"):
        assert getattr(experiment, part).equals(getattr(an_experiment(), part))


def test_few_runs_have_no_marks_and_say_so():
    few = an_experiment(runs=5, datasets=("made",))
    text = tables_markdown(few)
    assert "**" not in text
    assert text.count("needs 6 runs or more") == 1
    assert Page(report_html(few)).text.count("needs 6 runs or more") == 1
    assert "needs 6 runs or more" in terminal_table(few).caption
    assert "**" in tables_markdown(an_experiment(runs=6, datasets=("made",)))
