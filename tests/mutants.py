"""Break one promise at a time and see that the tests named beside it go red: `make mutants`.

A row is a file, a text in it that occurs once, the text that breaks it, and the tests that must notice. A row
that stays green, or whose text has moved, is an error. Rows of the C++ core compile it anew. Files are put
back afterwards; one with changes that are not committed is refused.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    tests: str  # arguments of pytest; "cpp" is the binary of the C++ tests


MUTANTS = [
    # stages
    Mutant(
        "cpp/src/forest/compete.cpp",
        "nextafter(length, infinity) * factor(u) == product",
        "nextafter(length, infinity) * factor(u) < product",
        "tests/stages",
    ),
    Mutant(
        "cpp/src/forest/geodesic.cpp",
        "&& arc > last[to])) return;",
        "&& arc < last[to])) return;",
        "tests/stages",
    ),
    Mutant(
        "src/pathforest/fuzzy.py",
        "if (self.membership_ == 1).all():",
        "if False:",
        "tests/models/test_fuzzy.py tests/models/test_identities.py",
    ),
    Mutant(
        "src/pathforest/_models/offers.py",
        "np.iinfo(rank.dtype).max).argmin(axis=1)",
        "np.iinfo(rank.dtype).min).argmax(axis=1)",
        "tests/stages/test_class_costs.py",
    ),
    Mutant(
        "src/pathforest/_models/offers.py",
        "    ratio[costs == lowest] = 1\n",
        "",
        "tests/models tests/stages",
    ),
    Mutant("cpp/src/forest/geodesic.cpp", "samples_between_pauses == 0", "samples_between_pauses < 0", "cpp"),
    Mutant(
        "cpp/src/forest/compete.cpp",
        "margin = 1 + 4 * std::numeric_limits<double>::epsilon();",
        "margin = 1;",
        "tests/stages/test_competition_ties.py",
    ),
    # engines
    Mutant(
        "cpp/include/pathforest/distances/engines/estimate.hpp",
        "std::max(1e-12, 2 * steps * static_cast",
        "std::max(1e-12, 2 * steps / 8 * static_cast",
        "cpp",
    ),
    Mutant(
        "cpp/include/pathforest/distances/engines/estimate.hpp",
        "            2 * steps *\n",
        "            2 * steps / 8 *\n",
        "cpp",
    ),
    Mutant(
        "cpp/bindings/arrays.hpp",
        "        const WithoutGil no_gil;\n",
        "",
        "tests/engines/test_runtime.py -k other_threads",
    ),
    Mutant(
        "cpp/bindings/engine.cpp",
        '        require_length(distances.shape(0), engine, "the neighbour lists");\n        run_',
        "        run_",
        "tests/models/test_refusals.py",
    ),
    Mutant(
        "src/pathforest/_engines/growing.py",
        "nearest < last)",
        "nearest <= last)",
        "tests/models/test_growing.py",
    ),
    Mutant(
        "src/pathforest/_engines/samples.py",
        "if 0 < widest < least and",
        "if 0 < widest < 0 and",
        "tests/models/test_refusals.py",
    ),
    Mutant(
        "src/pathforest/_engines/samples.py",
        "_widest_range(X[:FIRST]) >= least:",
        "_widest_range(X[:FIRST]) >= 0:",
        "tests/models/test_refusals.py",
    ),
    Mutant(
        "src/pathforest/_engines/samples.py",
        "widest = _widest_range(X)\n",
        "widest = _widest_range(X[:FIRST])\n",
        "tests/models/test_contract.py",
    ),
    Mutant(
        "src/pathforest/_engines/samples.py",
        "SYMMETRY = 1e-10",
        "SYMMETRY = 1e-6",
        "tests/models/test_refusals.py",
    ),
    Mutant(
        "src/pathforest/_utils/threads.py",
        "_core.max_threads()))",
        "10**6))",
        "tests/engines/test_threads.py",
    ),
    Mutant(
        "src/pathforest/_utils/progress.py",
        "        _outermost = None\n        bar.close()\n",
        "        bar.close()\n",
        "tests/utils/test_progress.py -k interruption",
    ),
    # models
    Mutant(
        "src/pathforest/_models/base.py",
        "        rules.check_parameters(self)\n        return",
        "        _core.Engine.brute(np.eye(2), 'euclidean')\n        rules.check_parameters(self)\n"
        "        return",
        "tests/models/test_refusals.py",
    ),
    Mutant(
        "src/pathforest/_models/growing.py",
        '{"magnitude": max(largest, magnitude(new))}',
        '{"magnitude": magnitude(new)}',
        "tests/models/test_growing.py -k hide",
    ),
    Mutant(
        "src/pathforest/_utils/progress.py",
        "        except BaseException:\n            reset(self)",
        "        except BaseException:\n            pass",
        "tests/models tests/utils",
    ),
    Mutant(
        "src/pathforest/_models/domes.py",
        "(share * sizes).astype(np.intp)]",
        "(share * sizes).astype(np.intp) - 1]",
        "tests/models/test_clustering.py",
    ),
    Mutant(
        "cpp/src/membership/domes.cpp",
        "Arc::between(arc.distance, order_[i].sample, arc.sample)",
        "Arc::between(0.0, order_[i].sample, arc.sample)",
        "tests/models/test_row_order.py",
    ),
    Mutant(
        "src/pathforest/_models/domes.py",
        "CLEAR = 2.0",
        "CLEAR = 1.5",
        "tests/models/test_clustering.py",
    ),
    Mutant(
        "cpp/src/membership/domes.cpp",
        "Arc::between(arc.distance, order_[i].sample, arc.sample)",
        "Arc::between(0.0, order_[i].sample, arc.sample)",
        "tests/models/test_clustering.py",
    ),
    Mutant(
        "cpp/src/membership/domes.cpp",
        "borrows = part_ < product.part_",
        "borrows = false",
        "tests/models/test_clustering.py -k 'reference or volumes'",
    ),
    Mutant(
        "src/pathforest/_models/density.py",
        "_core.query_density(near, self.largest_arc, self.squared)",
        "_core.query_density(near, near.max(), self.squared)",
        "tests/models/test_clustering.py",
    ),
    Mutant(
        "cpp/src/forest/geodesic.cpp",
        "share[c] / n_open / wanted",
        "share[c] / n_open",
        "tests/models/test_semi_supervised.py",
    ),
    Mutant(
        "src/pathforest/semi_supervised.py",
        "            spread[labelled] = codes[labelled]\n",
        "",
        "tests/models/test_semi_supervised.py",
    ),
    Mutant(
        "src/pathforest/outlier.py",
        "distances[:, 1:], distances[:, :-1]",
        "distances[:, :-1], distances[:, 1:]",
        "tests/models/test_outlier.py",
    ),
    # search
    Mutant(
        "src/pathforest/_search/ranking.py",
        "log_loss.mean(axis=1).round(DECIMALS)",
        "log_loss.max(axis=1).round(DECIMALS)",
        "tests/search/test_ranking.py",
    ),
    Mutant(
        "src/pathforest/_search/ranking.py",
        "log_loss.mean(axis=1).round(DECIMALS)",
        "log_loss.max(axis=1).round(DECIMALS)",
        "tests/search/test_fuzzy_cv.py",
    ),
    Mutant(
        "src/pathforest/_search/ranking.py",
        "(i // PER_TRANSFORM, place, i, row)",
        "(0, place, i, row)",
        "tests/search/test_ranking.py",
    ),
    Mutant(
        "src/pathforest/_utils/tables.py",
        "    if learned is not None and not len(learned):\n        return\n",
        "",
        "tests/models/test_mixed_tables.py",
    ),
    Mutant(
        "src/pathforest/_search/folds.py",
        "first.fit_transform(X, plan.y[train])",
        "first.fit(plan.first.X).transform(X)",
        "tests/search/test_representations.py",
    ),
    Mutant(
        "src/pathforest/_search/folds.py",
        "transformer if first is None else make_pipeline(first, transformer)",
        "transformer",
        "tests/search/test_representations.py",
    ),
    # files
    Mutant(
        "src/pathforest/_persistence/checks.py",
        "if (predecessor[reached] >= 0).any():",
        "if False:",
        "tests/persistence/test_persistence_forged.py",
    ),
    Mutant(
        "src/pathforest/_persistence/checks.py",
        "if (np.diff(model.cost_[order]) < 0).any():",
        "if False:",
        "tests/persistence/test_persistence_forged.py",
    ),
    Mutant(
        "src/pathforest/_cli/tables.py",
        "return os.path.samefile(path, other)",
        "return path == other",
        "tests/cli/test_mistakes.py",
    ),
    Mutant(
        "src/pathforest/_tables/columns.py",
        ' or (decimal != "." and "." in text)',
        "",
        "tests/datasets/test_reading.py",
    ),
    Mutant(
        "src/pathforest/_tables/batches.py",
        "return cells_of.check_finite(values) if finite else values",
        "return values",
        "tests/datasets/test_reading.py",
    ),
    Mutant(
        "src/pathforest/_cli/models.py",
        "if prepared.columns is None:",
        "if True:",
        "tests/cli/test_train.py",
    ),
    Mutant(
        "src/pathforest/_cli/models.py",
        "table.set_params(kinds=kinds | samples.kinds, scale",
        "table.set_params(scale",
        "tests/cli/test_train.py",
    ),
    Mutant(
        "src/pathforest/_cli/models.py",
        "scale=scale or not represents",
        "scale=scale",
        "tests/cli/test_train.py",
    ),
    Mutant(
        "src/pathforest/_cli/commands/predict.py",
        "model._labels_and_probabilities(X)",
        "model.predict(X), model.predict_proba(X)",
        "tests/cli/test_answers.py",
    ),
    Mutant(
        "src/pathforest/_cli/commands/evaluate.py",
        "loaded.model._labels_and_probabilities(X)",
        "loaded.model.predict(X), loaded.model.predict_proba(X)",
        "tests/cli/test_answers.py",
    ),
    Mutant(
        "src/pathforest/datasets/published.py",
        "if not (os.environ.get(FOLDER) or",
        "if not (True or",
        "tests/datasets/test_fetch.py",
    ),
    # issues
    Mutant(
        "src/pathforest/_issues/offers.py",
        "wins = (value <= to_beat)",
        "wins = (value < to_beat)",
        "tests/issues/test_fast.py",
    ),
    Mutant(
        "src/pathforest/_issues/offers.py",
        "(nearest == other) & (self.indices[:, 0] < others.indices[:, 0])",
        "(nearest == other)",
        "tests/issues/test_fast.py",
    ),
    Mutant(
        "src/pathforest/_issues/find.py",
        'np.argsort(opinion.share, kind="stable")',
        "np.arange(len(codes))",
        "tests/issues/test_fast.py",
    ),
    Mutant(
        "src/pathforest/_issues/find.py",
        "(size < most[codes[first]])",
        "(first > 0)",
        "tests/issues/test_fast.py",
    ),
    Mutant(
        "src/pathforest/_issues/unseen.py",
        "np.lexsort(X.T[::-1])",
        "np.arange(len(X))",
        "tests/issues/test_unseen.py",
    ),
    Mutant(
        "src/pathforest/_issues/unseen.py",
        "np.sort(np.unique(codes[order], return_index=True)[1])",
        "np.unique(codes[order], return_index=True)[1]",
        "tests/issues/test_unseen.py",
    ),
    # tables
    Mutant(
        "src/pathforest/preprocessing.py",
        "float(np.median(deviations))",
        "float(np.mean(deviations))",
        "tests/preprocessing",
    ),
    Mutant(
        "src/pathforest/preprocessing.py",
        "return [deviation] if deviation == scaler.scale_[0] < np.inf else []",
        "return [deviation]",
        "tests/preprocessing",
    ),
    Mutant(
        "src/pathforest/preprocessing.py",
        "np.where(self.kinds_ == CATEGORY, 1 / self.category_value_, self.scale_)",
        "self.scale_",
        "tests/preprocessing",
    ),
    # files and commands
    Mutant(
        "src/pathforest/_tables/write.py",
        "guarded = {name for name in layout.added if",
        "guarded = {name for name in layout.names if",
        "tests/cli/test_cells.py",
    ),
    Mutant(
        "src/pathforest/_tables/write.py",
        "for name in layout.added if name not in layout.labels}",
        "for name in layout.added}",
        "tests/cli/test_cells.py",
    ),
    Mutant(
        "src/pathforest/_tables/write.py",
        "reads_as(text, number, decimal)",
        "reads_as(text, number)",
        "tests/datasets/test_writing.py",
    ),
    Mutant(
        "src/pathforest/_tables/write.py",
        'lineterminator="\\r\\n"',
        'lineterminator="\\n\\n"',
        "tests/cli/test_cells.py",
    ),
    Mutant(
        "src/pathforest/_cli/entrypoint.py",
        ' == "RAISE_VARARGS"',
        ' != ""',
        "tests/cli/test_bugs.py",
    ),
    Mutant(
        "src/pathforest/_cli/entrypoint.py",
        "is_raise and PACKAGE in Path(code.co_filename).parents",
        "is_raise",
        "tests/cli/test_bugs.py",
    ),
    Mutant(
        "src/pathforest/_search/folds.py",
        "TREE_NEIGHBORS), engine.n_samples - 1)",
        "TREE_NEIGHBORS), 10**30)",
        "tests/search/test_fuzzy_cv.py -k limit",
    ),
    Mutant(
        "src/pathforest/_utils/files.py",
        "signal.signal(number, stop)",
        "pass",
        "tests/cli/test_unwritable.py -k signal",
    ),
    Mutant(
        "src/pathforest/_utils/files.py",
        "            error.filename = os.fspath(path)\n",
        "            pass\n",
        "tests/cli/test_unwritable.py -k named",
    ),
    Mutant(
        "src/pathforest/_pages/decisions.py",
        "rows.columns[label][source]",
        "rows.columns[label]",
        "tests/cli/test_cells.py",
    ),
    # pages
    Mutant("src/pathforest/_pages/images.py", "path.is_relative_to(self.folder)", "True", "tests/pages"),
    Mutant("src/pathforest/_pages/images.py", "formats=FORMATS", "formats=None", "tests/pages"),
    Mutant("src/pathforest/_pages/images.py", " <= LARGEST", " < 10**12", "tests/pages"),
    Mutant(
        "src/pathforest/_pages/images.py",
        "    image.info.clear()  # comments are private\n",
        "",
        "tests/pages",
    ),
    Mutant(
        "src/pathforest/_pages/decisions.py",
        'if as_label(given, of_integers=y.dtype.kind == "i") != label:',
        "if False:",
        "tests/cli/test_audit.py",
    ),
    # pictures
    Mutant(
        "src/pathforest/plotting/_draw.py",
        "np.argsort(-spread,",
        "np.argsort(spread,",
        "tests/plotting/test_plotting.py",
    ),
    Mutant(
        "src/pathforest/plotting/_source.py",
        "samples[kept], names",
        "samples[: len(kept)], names",
        "tests/plotting/test_plotting.py",
    ),
    Mutant(
        "src/pathforest/plotting/regions.py",
        "np.column_stack([colors[codes], strength])",
        "np.column_stack([colors[codes], 1 - strength])",
        "tests/plotting/test_plotting.py",
    ),
    Mutant(
        "src/pathforest/plotting/explanation.py",
        "model.classes_[code] != winner",
        "code != winner",
        "tests/plotting/test_explanation.py",
    ),
    Mutant(
        "src/pathforest/plotting/landscape.py",
        "np.fmax.at(",
        "np.maximum.at(",
        "tests/plotting/test_landscape.py",
    ),
    # benchmarks
    Mutant(
        "benchmarks/study.py", 'if kept["about"] == here}', "if True}", "tests/benchmarks/test_benchmarks.py"
    ),
    Mutant(
        "benchmarks/studies/accuracy.py",
        "(len(values) - place) * values[key]",
        "len(values) * values[key]",
        "tests/benchmarks/test_benchmarks.py",
    ),
    Mutant(
        "benchmarks/speed/measure.py",
        "for name, runner in runners.items():",
        "for name, runner in sorted(runners.items())[:1]:",
        "tests/benchmarks/test_benchmarks.py",
    ),
    # reproduction
    Mutant(
        "src/pathforest/_reproduction/statistics.py",
        'cells.groupby("dataset").transform("max")',
        'cells.groupby(["dataset", "competition"]).transform("max")',
        "tests/reproduction/test_statistics.py",
    ),
    Mutant(
        "src/pathforest/_reproduction/statistics.py",
        'rank(axis="columns", ascending=False)',
        'rank(axis="columns", ascending=True)',
        "tests/reproduction/test_statistics.py",
    ),
    Mutant(
        "src/pathforest/_reproduction/data.py",
        "seen = 4 * len(rows) // 5",
        "seen = round(4 * len(rows) / 5)",
        "tests/reproduction/test_data.py",
    ),
    Mutant(
        "src/pathforest/_reproduction/textbook.py",
        "(offer < cost)",
        "(offer <= cost)",
        "tests/reproduction/test_textbook.py",
    ),
    Mutant(
        "src/pathforest/_reproduction/contestants.py",
        "model.fit, *parts.train)",
        "model.fit, *parts.search)",
        "tests/reproduction/test_contestants.py",
    ),
    Mutant(
        "src/pathforest/_reproduction/run.py",
        'content["outcome"] if content["key"] == key else None',
        'content["outcome"]',
        "tests/reproduction/test_run.py",
    ),
    Mutant(
        "src/pathforest/_reproduction/tables.py",
        '.format_index(escape="html")\n',
        ".format_index()\n",
        "tests/reproduction/test_report.py",
    ),
    Mutant(
        "src/pathforest/_reproduction/figures.py",
        "means.max()",
        "1.0",
        "tests/reproduction/test_report.py",
    ),
    # the renderer
    Mutant(
        "src/pathforest/_pages/page.py", "autoescape=True", "autoescape=False", "tests/pages/test_page.py"
    ),
    Mutant(
        "src/pathforest/_pages/page.py", "or \"'none'\"", "or \"'unsafe-inline'\"", "tests/pages/test_page.py"
    ),
    Mutant(
        "src/pathforest/_reproduction/statistics.py",
        "values.std(ddof=0)",
        "values.std(ddof=1)",
        "tests/reproduction/test_statistics.py",
    ),
    # dask
    Mutant(
        "src/pathforest/dask/futures.py",
        'GONE = "lost", "cancelled"',
        "GONE = ()",
        "tests/dask/test_failures.py -k refitted",
    ),
    Mutant(
        "src/pathforest/dask/futures.py",
        "except (OSError, KeyError):",
        "except KeyError:",
        "tests/dask/test_prediction.py -k dies_of",
    ),
    # the tests themselves
    Mutant(
        "tests/conftest.py",
        "    sys.addaudithook(stay_here)\n",
        "",
        "tests/package/test_package.py -k network",
    ),
]


def run(*command: str) -> int:
    """Return the exit code of a command, without its output."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def build() -> bool:
    """Compile the core and put it where Python finds it; say whether that worked."""
    from pathforest import _core  # where it lies, asked of the installed package

    folder = max(ROOT.glob("build/cp3*/build.ninja"), key=lambda file: file.stat().st_mtime).parent
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if run(cmake, "--build", str(folder), "--target", "_core", "pathforest_tests"):
        return False
    shutil.copyfile(next(folder.glob("_core*")), f"{_core.__file__}.new")
    os.replace(f"{_core.__file__}.new", _core.__file__)
    return True


def survives(mutant: Mutant) -> bool:
    """Say whether the tests stay green with the change made."""
    if mutant.tests == "cpp":
        return run(*map(str, ROOT.glob("build/cp3*/pathforest_tests"))) == 0
    return (
        run(sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutant.tests.split()) == 0
    )


def judge(mutant: Mutant) -> str:
    """Make a change, run its tests, take it back; return "" if they went red, else what is wrong."""
    file = ROOT / mutant.file
    text = file.read_text()
    if text.count(mutant.old) != 1:
        return f"the text occurs {text.count(mutant.old)} times"
    if run("git", "diff", "--quiet", "HEAD", "--", mutant.file):
        return "the file has changes that are not committed"
    native = mutant.file.startswith("cpp/")
    try:
        file.write_text(text.replace(mutant.old, mutant.new))
        if native and not build():
            return "it does not compile"
        return "the tests stay green" if survives(mutant) else ""
    finally:
        file.write_text(text)
        if native:
            build()


def main() -> int:
    """Judge the rows whose file or tests contain the words given, all without any."""
    chosen = [m for m in MUTANTS if all(word in f"{m.file} {m.tests}" for word in sys.argv[1:])]
    failed = 0
    for mutant in chosen:
        problem = judge(mutant)
        failed += bool(problem)
        print(
            f"{'GREEN' if problem else 'red':6}{mutant.file}: {mutant.old!r} -> {mutant.new!r}  {problem}",
            flush=True,
        )
    print(f"{len(chosen) - failed} of {len(chosen)} mutants are red")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
