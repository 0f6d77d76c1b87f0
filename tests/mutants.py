"""Break one promise at a time and see that the tests named beside it go red: `make mutants`.

Rooms of tests and files choose rows: `make mutants ARGS="search cpp/"`. It is an error if the tests of a row
stay green, are red without the change or do not exist, or if its text has moved. Rows of the C++ core compile
it anew. Files are put back afterwards; one with changes that are not committed is refused.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

# `file | tests` opens rows. "- " is a text that occurs once there, "+ " what it becomes (none: it goes).
# Tests are arguments of pytest, or "cpp" for the C++ tests; of several, with commas, each must go red.
# Rows are sorted by room of tests.
ROWS = r"""
benchmarks/speed/measure.py | tests/benchmarks/test_benchmarks.py
- for name, runner in runners.items():
+ for name, runner in sorted(runners.items())[:1]:
benchmarks/studies/accuracy.py | tests/benchmarks/test_benchmarks.py
- (len(values) - place) * values[key]
+ len(values) * values[key]
benchmarks/study.py | tests/benchmarks/test_benchmarks.py
- if kept["about"] == here}
+ if True}

src/pathforest/_cli/commands/evaluate.py | tests/cli/test_answers.py
- loaded.model._labels_and_probabilities(X)
+ loaded.model.predict(X), loaded.model.predict_proba(X)
src/pathforest/_cli/commands/predict.py | tests/cli/test_answers.py
- model._labels_and_probabilities(X)
+ model.predict(X), model.predict_proba(X)
src/pathforest/_pages/decisions.py | tests/cli/test_audit.py
- if as_label(given, of_integers=of_integers) != label:
+ if False:
src/pathforest/_cli/entrypoint.py | tests/cli/test_bugs.py
- dis.opname[code.co_code[found.tb_lasti]] == "RAISE_VARARGS"
+ True
- is_raise and PACKAGE in Path(code.co_filename).parents
+ is_raise
src/pathforest/_pages/decisions.py | tests/cli/test_cells.py
- rows.columns[label][source]
+ rows.columns[label]
src/pathforest/_tables/write.py | tests/cli/test_cells.py
- guarded = {name for name in layout.added if
+ guarded = {name for name in layout.names if
- for name in layout.added if name not in layout.labels}
+ for name in layout.added}
- lineterminator="\r\n"
+ lineterminator="\n\n"
src/pathforest/_cli/tables.py | tests/cli/test_mistakes.py
- return os.path.samefile(path, other)
+ return path == other
src/pathforest/_search/ensemble.py | tests/cli/test_train.py
- classes[likeliest(search, of_the_truth(given, search.label_noise_))] == true
+ classes[given.argmax(axis=1)] == true
src/pathforest/_cli/models.py | tests/cli/test_train.py
- many > RARE * few
+ many >= RARE * few
- if prepared.kinds is None:
+ if True:
- TablePreprocessor(samples.kinds or None, scale
+ TablePreprocessor(None, scale
- scale = not searches and metric in IN_UNITS
+ scale = metric in IN_UNITS
src/pathforest/_utils/files.py | tests/cli/test_unwritable.py -k named
- error.filename = os.fspath(path)
+ pass
src/pathforest/_utils/files.py | tests/cli/test_unwritable.py -k signal
- os.unlink(path)
+ pass

cpp/include/pathforest/distances/engines/estimate.hpp | cpp
- return steps * static_cast
+ return steps / 8 * static_cast
cpp/src/forest/geodesic.cpp | cpp
- samples_between_pauses == 0
+ samples_between_pauses < 0

src/pathforest/dask/tree.py | tests/dask/test_equality.py -k fitted_arrays
- lower = (self.low < other.low) | ((self.low == other.low) & (self.high < other.high))
+ lower = self.low < 0
src/pathforest/dask/tree.py | tests/dask/test_equality.py -k fitted_arrays
- source + np.int32(other.first)
+ source
src/pathforest/dask/futures.py | tests/dask/test_failures.py -k refitted
- GONE = "lost", "cancelled"
+ GONE = ()
src/pathforest/dask/futures.py | tests/dask/test_failures.py -k dies_of
- except (OSError, KeyError):
+ except KeyError:

src/pathforest/datasets/published.py | tests/datasets/test_fetch.py
- named or _is_sound(local, DATASETS[name]),
+ True,
src/pathforest/_tables/batches.py | tests/datasets/test_reading.py
- return col.check_finite(values) if finite else values
+ return values
src/pathforest/_tables/columns.py | tests/datasets/test_reading.py
- (decimal != "." and "." in text)
+ False
src/pathforest/_tables/write.py | tests/datasets/test_writing.py
- reads_as(text, col.number, decimal)
+ reads_as(text, col.number)

docs/coming_from_opfython.md | tests/docs/test_coming_from_opfython.py -k k_divergence
- (2 * x / (x + y))).sum()` | `d` | not symmetric, can
+ (2 * x / (x + y))).sum()` | `d` | can

src/pathforest/_engines/matrix.py | tests/engines/test_distances.py -k 'other_metrics or symmetric'
- np.triu(D[rows], rows.start + 1)
+ np.triu(D[rows], 1)
- D[rows.stop :, rows] = block[:, size:].T
+ D[rows.stop :, rows] = pairwise(X[rows.stop :], X[rows], metric)
src/pathforest/_engines/metric.py | tests/engines/test_gower.py
- params["ranges"], np.inf)
+ params["ranges"], 1.0)
- np.where(np.isnan(low), 0.0, high - low)
+ np.where(np.isnan(low), 0.0, high)
src/pathforest/_utils/checks.py | tests/engines/test_processes.py -k threadpoolctl
- _core.max_threads()))
+ 10**6))
src/pathforest/_engines/matrix.py | tests/engines/test_processes.py -k full_matrix
-     for rows in blocks(n, 8 * n):
-         D[rows] = 0
cpp/include/pathforest/distances/engines/own_samples.hpp | tests/engines/test_agreement.py -k clusters
- std::max(of_mail[lane], part_reach(by_differences, part, other))
+ of_mail[lane]
cpp/src/graph/parts.cpp | tests/engines/test_agreement.py -k clusters
- if (std::max(a, b) >= n_homes) return true;
+ if (false) return true;
cpp/bindings/arrays.hpp | tests/engines/test_processes.py -k other_threads
-         const WithoutGil no_gil;

src/pathforest/_models/labels.py | tests/issues/test_fast.py
- np.argsort(opinion.share, kind="stable")
+ np.arange(len(codes))
src/pathforest/_issues/find.py | tests/issues/test_fast.py
- (size < most[codes[first]])
+ (first > 0)
src/pathforest/_models/leave_one_out.py | tests/issues/test_fast.py
- wins = (value <= to_beat)
+ wins = (value < to_beat)
- (nearest == other) & (self.indices[:, 0] < others.indices[:, 0])
+ (nearest == other)
src/pathforest/_issues/find.py | tests/issues/test_issues.py
- is_small = all(
+ is_small = any(
- flag_little(both, codes) & opinion.prefers_rival
+ flag_little(opinion, codes) & opinion.prefers_rival
- return make_pipeline(MaxAbsScaler(), StandardScaler())
+ return make_pipeline(MaxAbsScaler())
src/pathforest/_issues/unseen.py | tests/issues/test_issues.py
- min_samples_leaf=LEAF, n_jobs
+ n_jobs
- content_order(X)
+ np.arange(len(X))
- np.sort(np.unique(codes[order], return_index=True)[1])
+ np.unique(codes[order], return_index=True)[1]

src/pathforest/_models/offers.py | tests/models/test_classifier.py
- np.iinfo(rank.dtype).max).argmin(axis=1)
+ np.iinfo(rank.dtype).min).argmax(axis=1)
-     ratio[costs == lowest] = 1
src/pathforest/_utils/progress.py | tests/models/test_refusals.py
-         except BaseException:
-             reset(self)
+         except BaseException:
+             pass
src/pathforest/_models/density.py | tests/models/test_clustering.py
- _core.query_density(near, self.largest_arc, self.squared)
+ _core.query_density(near, near.max(), self.squared)
- (q * sizes).astype(np.intp)]
+ (q * sizes).astype(np.intp) - 1]
- FAR = 3.0
+ FAR = 30.0
src/pathforest/clustering.py | tests/models/test_clustering.py
- FEW, MORE = 1000, 10
+ FEW, MORE = 1000, 11
src/pathforest/_engines/samples.py | tests/models/test_contract.py
- widest = _widest_range(X)
+ widest = _widest_range(X[:FIRST])
src/pathforest/fuzzy.py | tests/models/test_identities.py -k sigma_one
- if (membership == 1).all():
+ if False:
src/pathforest/_engines/growing.py | tests/models/test_growing.py
- better = (index >= 0) & ((near < distances) |
+ better = (index >= 0) & ((near <= distances) |
src/pathforest/_models/growing.py | tests/models/test_growing.py -k refused_and_changes
- {"magnitude": max(largest, magnitude(new))}
+ {"magnitude": magnitude(new)}
src/pathforest/preprocessing.py | tests/models/test_tables.py
- float(np.median(deviations))
+ float(np.mean(deviations))
- return [deviation] if deviation == scaler.scale_[0] < np.inf else []
+ return [deviation]
- np.where(self.kinds_ == CATEGORY, 1 / self.category_value_, self.scale_)
+ self.scale_
src/pathforest/_tables/columns.py | tests/models/test_tables.py
- (learned is None or len(learned)) and has_text
+ has_text
- if isinstance(value, datetime) and value.tzinfo is not None:
+ if False:
src/pathforest/learning.py | tests/models/test_pruning.py
- if len(val) - len(wrong) > most:
+ if True:
src/pathforest/pruning.py | tests/models/test_pruning.py
- if n_right < fewest:
+ if False:
src/pathforest/_models/explanation.py | tests/models/test_explanations.py
- key=lambda feature: -feature.weight)
+ key=lambda feature: feature.weight)
src/pathforest/knn_classifier.py | tests/models/test_knn_classifier.py
- int(np.argmax(scores)) + 1
+ len(scores) - int(np.argmax(scores[::-1]))
src/pathforest/resampling.py | tests/models/test_resampling.py
- np.where(y[conqueror] == y[val], 1, -1)
+ 1
src/pathforest/outlier.py | tests/models/test_outlier.py
- distances[:, 1:], distances[:, :-1]
+ distances[:, :-1], distances[:, 1:]
src/pathforest/_engines/samples.py | tests/models/test_refusals.py
- if 0 < widest < least and
+ if 0 < widest < 0 and
- _widest_range(X[:FIRST]) >= least:
+ _widest_range(X[:FIRST]) >= 0:
- SYMMETRY = 1e-10
+ SYMMETRY = 1e-6
src/pathforest/_models/base.py | tests/models/test_contract.py -k units
- if said and is_first("units"):
+ if said:
- UNITS * spans[varies].min()
+ UNITS * UNITS * spans[varies].min()
src/pathforest/_utils/splits.py | tests/search/test_plan.py
- cv = min(int(cv), most)
+ cv = int(cv)
src/pathforest/_models/base.py | tests/models/test_refusals.py
-         rules.check_parameters(self)
-         return
+         _core.Engine.brute(np.eye(2), 'euclidean')
+         rules.check_parameters(self)
+         return
src/pathforest/semi_supervised.py | tests/models/test_semi_supervised.py
-             spread[labelled] = codes[labelled]
cpp/src/membership/domes.cpp | tests/models/test_clustering.py -k 'reference or volumes'
- borrows = part_ < product.part_
+ borrows = false
cpp/src/membership/domes.cpp | tests/models/test_identities.py, tests/models/test_clustering.py
- Arc::between(arc.distance, order_[i].sample, arc.sample)
+ Arc::between(0.0, order_[i].sample, arc.sample)
cpp/src/membership/density.cpp | tests/models/test_clustering.py -k clear
- (1 + 2 / d)
+ (1 + 1 / d)
cpp/src/forest/geodesic.cpp | tests/models/test_semi_supervised.py
- share[c] / n_open / wanted
+ share[c] / n_open

tests/conftest.py | tests/package/test_package.py -k network
-     sys.addaudithook(stay_here)
src/pathforest/__init__.py | tests/package/test_package.py -k looked_up
-         globals()[name] = getattr(module, name) if name in _LATER else module
-     return globals()[name]
+     return getattr(module, name) if name in _LATER else module
src/pathforest/noise.py | tests/package/test_rooms.py
- from numbers import Real
+ import pathforest._issues

src/pathforest/_pages/images.py | tests/pages
- path.is_relative_to(self.folder)
+ True
- formats=FORMATS
+ formats=None
- st_size <= LARGEST
+ st_size < 10**12
-     image.info.clear()  # comments are private
src/pathforest/_pages/label.py | tests/pages/test_label.py -k python
- np.lexsort([indices, distances])
+ np.lexsort([distances, indices])
src/pathforest/_pages/flow.js | tests/pages/test_label.py -k python
- ofIntegers && names.every(isInteger) ? byValue : byText
+ byText
- p[at] - (q[at] ?? -1)
+ 0
src/pathforest/_pages/decisions.py | tests/pages/test_label.py -k refused
- if known[row] not in (None, label):
+ if False:
src/pathforest/_pages/page.py | tests/pages/test_page.py
- " 'wasm-unsafe-eval'" * runs_core
+ " 'wasm-unsafe-eval'"
- autoescape=True
+ autoescape=False
- or "'none'"
+ or "'unsafe-inline'"

src/pathforest/_persistence/checks.py | tests/persistence/test_persistence_forged.py
- demand((predecessor[reached] < 0).all(),
+ demand(True,
- demand((np.diff(model.cost_[order]) >= 0).all(),
+ demand(True,

docs/playground/conquest.js | tests/playground -k conque
- predecessor[i] < 0 ? v - 1 : v
+ v
- rank[a] < rank[b]
+ rank[a] > rank[b]
docs/playground/textbook.js | tests/playground -k textbook
- (step < length[u])
+ (step <= length[u])

src/pathforest/plotting/explanation.py | tests/plotting/test_plotting.py
- model.classes_[code] != one.label
+ code != one.label
src/pathforest/plotting/landscape.py | tests/plotting/test_plotting.py
- np.fmax.at(
+ np.maximum.at(
src/pathforest/plotting/_draw.py | tests/plotting/test_plotting.py
- np.argsort(-spread,
+ np.argsort(spread,
src/pathforest/plotting/_source.py | tests/plotting/test_plotting.py
- samples[kept], names
+ samples[: len(kept)], names
src/pathforest/plotting/regions.py | tests/plotting/test_plotting.py
- np.column_stack([colors[codes], strength])
+ np.column_stack([colors[codes], 1 - strength])

src/pathforest/_reproduction/contestants.py | tests/reproduction/test_contestants.py
- model.fit(*parts.train)
+ model.fit(*parts.search)
src/pathforest/_reproduction/data.py | tests/reproduction/test_data.py
- seen = 4 * len(rows) // 5
+ seen = round(4 * len(rows) / 5)
src/pathforest/_reproduction/figures.py | tests/reproduction/test_report.py
- means.max()
+ 1.0
src/pathforest/_reproduction/tables.py | tests/reproduction/test_report.py
- .format_index(escape="html")
+ .format_index()
src/pathforest/_reproduction/run.py | tests/reproduction/test_run.py
- content["outcome"] if content["key"] == key else None
+ content["outcome"]
src/pathforest/_reproduction/statistics.py | tests/reproduction/test_statistics.py
- cells.groupby("dataset").transform("max")
+ cells.groupby(["dataset", "competition"]).transform("max")
- rank(axis="columns", ascending=False)
+ rank(axis="columns", ascending=True)
- values.std(ddof=0)
+ values.std(ddof=1)
src/pathforest/_reproduction/textbook.py | tests/reproduction/test_textbook.py
- (offer < cost)
+ (offer <= cost)

src/pathforest/_search/ensemble.py | tests/search/test_model.py
- given - taken
+ given - noise
- min(FLOOR, noise * FLOOR_SHARE, FLOOR_SUM / (n_classes - 1), room)
+ FLOOR
- given if weights is None else given * weights
+ given
src/pathforest/_search/ensemble.py | tests/search/test_model.py -k estimate
- share - float(np.sqrt(share * (1 - share) / len(codes)))
+ share
src/pathforest/_search/plan.py | tests/search/test_grid_search.py -k part
- np.unique(labels, return_inverse=True)[1]
+ np.zeros(n, dtype=int)
- content_keys([*_columns(samples), codes], n)
+ np.arange(n)
src/pathforest/_search/representations.py | tests/search/test_representations.py -k part
-                 Z[rows] = own  # they have not been answered by the trees that saw them
src/pathforest/_search/folds.py | tests/search/test_grid_search.py -k limit
- TREE_NEIGHBORS), engine.n_samples - 1)
+ TREE_NEIGHBORS), 10**30)
src/pathforest/_search/folds.py | tests/search/test_grid_search.py -k repeats
- is_given and (np.diff(train) > 0).all()
+ is_given
src/pathforest/_search/folds.py | tests/search/test_scorers.py -k writes
- deepcopy(fitted(ready, cell, beta, forest))
+ fitted(ready, cell, beta, forest)
src/pathforest/_search/scoring.py | tests/search/test_ranking.py
- total += given[best]
+ total = given[best]
- is_full & (count == 0), np.inf, loss)
+ False, np.inf, loss)
- log_loss.mean(axis=1).round(DECIMALS)
+ log_loss.max(axis=1).round(DECIMALS)
src/pathforest/_search/representations.py | tests/search/test_grid_search.py -k table
- clone(table).set_params(
+ clone(table).set_params(max_categories=2,

cpp/bindings/engine.cpp | tests/stages/test_stage_refusals.py
-         require_length(distances.shape(0), engine, "the neighbour lists");
-         run_
+         run_
cpp/src/forest/compete.cpp | tests/stages
- nextafter(length, infinity) * factor(u) == product
+ nextafter(length, infinity) * factor(u) < product
cpp/src/forest/geodesic.cpp | tests/stages
- && arc > last[to])) return;
+ && arc < last[to])) return;
cpp/src/forest/class_costs.cpp | tests/stages/test_class_costs.py
- is_settled = is_settled && lowest < total
+ is_settled = is_settled && lowest <= total
- least * (1 - 1e-9) > best.mean
+ least > best.mean
- && ascending_[0] < last
+ && ascending_[0] <= last
cpp/src/forest/class_costs.cpp | tests/issues/test_fast.py
- rule.nearest_first && a.offers[0]
+ !rule.nearest_first && a.offers[0]
cpp/src/forest/compete.cpp | tests/stages/test_forest.py
- margin = 1 + 4 * std::numeric_limits<double>::epsilon();
+ margin = 1;

src/pathforest/_utils/progress.py | tests/utils/test_progress.py -k outermost
-         _outermost = None
-         bar.close()
+         bar.close()
src/pathforest/_utils/progress.py | tests/utils/test_progress.py -k notebook
- stream = sys.stdout if notebook else sys.stderr
+ stream = sys.stderr
- warnings.simplefilter("ignore")
+ pass
-             self._shown.total = None
"""


def read_rows() -> list[tuple[str, list[str], str, str]]:
    """Return file, tests, old and new text of the rows; every line must belong to one."""
    row = re.compile(r"(?m)^(?:(\S+) \| (.+)\n)?((?:- .*\n)+)((?:\+ .*\n)*)")
    if lost := row.sub("", ROWS).strip():
        sys.exit(f"these lines belong to no row:\n{lost}")
    found, file, tests = [], "", ""
    for new_file, new_tests, *texts in row.findall(ROWS):
        file, tests = new_file or file, new_tests or tests
        texts = (re.sub("(?m)^..", "", text).removesuffix("\n") for text in texts)
        found.append((file, tests.split(", "), *texts))
    return found


def run(*command: str) -> int:
    """Return the exit code of a command, without its output."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def build() -> bool:
    """Compile the core and put it where Python finds it; say whether that worked."""
    from pathforest import _core  # where it lies, asked of the installed package

    newest = max(ROOT.glob("build/cp3*/build.ninja"), key=lambda file: file.stat().st_mtime, default=None)
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if newest is None or run(cmake, "--build", str(newest.parent), "--target", "_core", "pathforest_tests"):
        return False
    shutil.copyfile(next(newest.parent.glob("_core*")), f"{_core.__file__}.new")
    os.replace(f"{_core.__file__}.new", _core.__file__)
    return True


def color(tests: str) -> str:
    """Return "green" or "red", or what kept the tests from running."""
    if tests == "cpp":
        code = run("sh", "-c", "exec build/cp3*/pathforest_tests")
    else:
        code = run(sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *shlex.split(tests))
    # Below 0 is a crash; above 1 pytest found no test or could not read one, and the shell found no binary.
    return "green" if code == 0 else "red" if code <= 1 else f"not run (exit code {code})"


color_before = cache(color)


def judge(name: str, tests: list[str], old: str, new: str) -> str:
    """Make a change, run its tests, take it back; return "" if they went red, else what is wrong."""
    file = ROOT / name
    text = file.read_text() if file.exists() else ""
    if text.count(old) != 1:
        return f"the text occurs {text.count(old)} times"
    if run("git", "diff", "--quiet", "HEAD", "--", name):
        return "the file has changes that are not committed"
    if before := [f"{one} is {found} before" for one in tests if (found := color_before(one)) != "green"]:
        return ", ".join(before)
    rebuild = build if name.startswith("cpp/") else lambda: True
    try:
        file.write_text(text.replace(old, new))
        if not rebuild():
            return "it does not compile here"
        return ", ".join(f"{one} is {now}" for one in tests if (now := color(one)) != "red")
    finally:
        file.write_text(text)
        rebuild()


def main(words: list[str]) -> int:
    """Judge the rows of the rooms and files given, all without any; say how many are left out."""
    counts = Counter()
    for row in read_rows():
        file, tests, old, new = row
        room = re.split(r"[/ ]", tests[0].removeprefix("tests/"))[0]
        if words and not any(word == room or word in file for word in words):
            counts["not tried"] += 1
            continue
        problem = judge(*row)
        counts["WRONG" if problem else "red"] += 1
        print(f"{'WRONG' if problem else 'red':6}{file}: {old!r} -> {new!r}  {problem}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    return int(counts["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
