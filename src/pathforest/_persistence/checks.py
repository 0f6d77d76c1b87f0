"""What files may contain of each class, and checks: objects that pass them can be used without a crash.

A class of ours has a table `_saved` and is listed by :func:`saved`; `OTHERS` has the tables of others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from pathforest._engines.metric import Metric, check_algorithm, complete_metric, resolve_metric
from pathforest._engines.samples import SparseSamples, check_sparse, check_training_values
from pathforest._utils.checks import demand

INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
FEATURE_TYPES = (np.dtype(np.float32), np.dtype(np.float64))
LARGEST = np.iinfo(np.int32).max  # number of samples or features: the core counts with 32 bits
SHAPES = {"V": "f", "w": "f", "VI": "ff", "p": ""}  # of a metric's parameters, f the number of features
OUTPUTS = {None, "default", "pandas", "polars"}
PASSED = "passthrough"  # instead of a transformer

Sizes = dict[str, int]  # lengths by name; the first array that has one sets it
Rule = Callable[[Any, str, Sizes], Any]  # takes an object, the name of its attribute, and the lengths known
Rules = Mapping[str, Rule | None]  # None: a rule of several attributes looks at it, or anything will do


class Saved(NamedTuple):
    """What a file contains of an object beside its parameters."""

    always: Rules = MappingProxyType({})
    sometimes: Rules = MappingProxyType({})
    agree: tuple[Callable[[Any, Sizes], Any], ...] = ()  # rules of several attributes
    derived: tuple[str, ...] = ()  # attributes that `derive` makes, of a model once it has been checked
    derive: Callable[[Any], Any] = lambda value: None
    pack: Callable[[Any, dict[str, Any]], dict[str, Any]] | None = None  # changes what is stored
    params: tuple[str, ...] | None = None  # all of them if None

    def extended(self, always: Rules, sometimes: Rules | None = None, *agree: Any, **others: Any) -> Saved:
        """Return the table of a class that has more."""
        more = (self.always | always, self.sometimes | (sometimes or {}), (*self.agree, *agree))
        return Saved(*more, *self[3:])._replace(**others)


MODELS: dict[str, type] = {}  # what `save` takes and `load` returns
PARTS: dict[str, type | str] = {}  # what other objects may contain: the class, or the module it lies in
TABLES: dict[str, Saved] = {}


def saved(*roles: dict[str, Any]) -> Callable[[type], type]:
    """List a class in `MODELS` or `PARTS`; no other name in a file stands for a class."""

    def register(kind: type) -> type:
        TABLES[kind.__name__] = kind._saved
        for role in roles:
            role[kind.__name__] = kind
        return kind

    return register


def check_model(model: Any) -> None:
    """Raise ValueError unless parameters and fitted attributes are there, and fit together."""
    model._settings()
    check_attributes(model, type(model)._saved, {})


def check_attributes(value: Any, table: Saved, sizes: Sizes) -> None:
    """Apply a table to an object."""
    for name, rule in (table.always | table.sometimes).items():
        if name in vars(value) and rule:
            rule(value, name, sizes)
        elif name in table.always:
            _get(value, name)
    for check in table.agree:
        check(value, sizes)


# Rules of single attributes


def _get(value: Any, name: str) -> Any:
    demand(name in vars(value), f"{name} is missing")
    return vars(value)[name]


def array(
    shape: str,
    dtypes: Any = FEATURE_TYPES[1:],
    nonnegative: bool = False,
    gaps: bool = False,
    finite: bool = True,
) -> Rule:
    """Make the rule of an array whose lengths have these names, * for any; finite, but for gaps."""

    def check(value: Any, name: str, sizes: Sizes) -> np.ndarray:
        found, names = _get(value, name), shape.split()
        kind = found.dtype if type(found) is np.ndarray else type(found)
        is_type = type(found) is np.ndarray and kind in dtypes
        demand(is_type, f"{name} should be an array of type {dtypes[-1]}, not {kind}")
        wanted = tuple(sizes.get(length, "any") for length in names)
        lengths = list(zip(names, found.shape, strict=False))
        is_shape = len(names) == found.ndim and all(sizes.get(key, n) == n for key, n in lengths)
        demand(is_shape, f"{name} has shape {found.shape} instead of {wanted}")
        sizes |= {key: n for key, n in lengths if key != "*"}
        if found.dtype.kind == "f" and finite:
            is_finite = (np.isfinite(found) | (gaps & np.isnan(found))).all()
            demand(is_finite, f"{name} has values that are not finite")
        demand(not nonnegative or (found >= 0).all(), f"{name} has negative values")
        return found

    return check


def indices(shape: str, stop: str, start: int = 0, ascending: bool = False) -> Rule:
    """Make the rule of an array of integers from `start` to below the length named `stop`."""

    def check(value: Any, name: str, sizes: Sizes) -> np.ndarray:
        found = array(shape, INDEX_TYPES)(value, name, sizes)
        is_within = not found.size or (found.min() >= start and found.max() < sizes[stop])
        demand(is_within, f"{name} should be in the range {start} to {sizes[stop] - 1}")
        demand(not ascending or (np.diff(found) > 0).all(), f"{name} does not ascend")
        return found

    return check


def number(low: float = 0.0, high: float = math.inf, kind: type = float) -> Rule:
    """Make the rule of a finite number within limits."""

    def check(value: Any, name: str, sizes: Sizes) -> Any:
        found = _get(value, name)
        if type(found) is not kind or not (low <= found <= high and abs(found) < math.inf):
            raise ValueError(f"{name}={found!r} should be a finite {kind.__name__} from {low} to {high}")
        return found

    return check


def whole(low: int, high: int = LARGEST) -> Rule:
    """Make the rule of an integer within limits."""
    return number(low, high, int)


def one_of(kind: type, what: str) -> Rule:
    """Make the rule of an attribute of a type."""
    return lambda value, name, sizes: demand(type(_get(value, name)) is kind, f"{name} is not {what}")


def check_features(value: Any, name: str, sizes: Sizes) -> None:
    """Check `n_features_in_`; names and categories, if there are any, must be those of each."""
    n_features, kind = whole(1)(value, name, sizes), type(value).__name__
    is_same = sizes.setdefault("features", n_features) == n_features
    demand(is_same, f"{name}={n_features} of a {kind} should be {sizes['features']}")
    names = vars(value).get("feature_names_in_")
    is_named = "feature_names_in_" not in vars(value) or (is_texts(names) and len(names) == n_features)
    demand(is_named, "feature_names_in_ does not name each feature")


def is_texts(values: Any) -> bool:
    """Say whether something is a list of texts, as an array of objects."""
    is_list = type(values) is np.ndarray and values.dtype == object and values.ndim == 1
    return is_list and all(isinstance(text, str) for text in values)


def check_categories(model: Any, name: str, sizes: Sizes) -> None:
    """Check the texts or booleans that codes of features stand for; None is for features that are numbers."""
    categories = vars(model)[name]
    is_list = type(categories) is list and len(categories) == sizes["features"]
    demand(is_list, "categories_ does not have an entry for each feature")
    for texts in categories:
        if texts is None or (type(texts) is np.ndarray and texts.dtype == bool and texts.tolist() == [0, 1]):
            continue
        demand(is_texts(texts), "categories_ contains something other than texts, or False and True")
        demand((texts[:-1] < texts[1:]).all(), "categories_ are not sorted, or one is repeated")


def check_classes(model: Any, name: str, sizes: Sizes) -> np.ndarray:
    """Check labels, which must be in ascending order without repetition or missing values."""
    classes = _get(model, name)
    is_list = type(classes) is np.ndarray and classes.ndim == 1 and len(classes)
    demand(is_list, f"{name} is not an array of labels")
    is_sorted = (classes == classes).all() and (classes[:-1] < classes[1:]).all()
    demand(is_sorted, f"{name} is not sorted, or a label is missing or repeated")
    sizes["classes"] = len(classes)
    return classes


def _check_neighborhood(model: Any, name: str, sizes: Sizes) -> None:
    n_others = sizes["samples"] - 1
    whole(min(1, n_others), n_others)(model, name, sizes)


def density_rules(curve: str = "cuts_") -> dict[str, Rule]:
    """List the rules of a density and of the curve that chose its neighbourhood."""
    density = array("samples", nonnegative=True)
    return {"density_": density, "best_k_": _check_neighborhood, curve: array("*", finite=False)}


# Samples and their metric


def check_metric(model: Any, name: str, sizes: Sizes) -> None:
    """Check the metric a model was fitted with, which must be one that has a name."""
    found = vars(model)[name]
    is_metric = type(found) is tuple and [type(part) for part in found] == [str, str, float, dict]
    demand(is_metric, "the metric is not described by name, kind, exponent and parameters")
    metric = Metric(*found)
    given = {"p": metric.p} if metric[:2] == ("minkowski", "features") else metric.params
    takes_params = metric.kind == "matrix" or metric.name == "gower" or not metric.params
    is_known = resolve_metric(metric.name, given)[:3] == metric[:3] and takes_params
    demand(is_known, f"metric={metric.name!r} does not have this kind or these parameters")


class Elsewhere:
    """Samples that are on other machines, which check them; their shape is known here."""

    shape: tuple[int, int]


def check_samples(model: Any, name: str, sizes: Sizes) -> None:
    """Check the training samples that a model keeps."""
    metric, algorithm, X = Metric(*model._fit_metric), _get(model, "_fit_algorithm"), vars(model)[name]
    if isinstance(X, Elsewhere):
        demand(X.shape[1] == sizes["features"], f"shards have {X.shape[1]} features")
        sizes["samples"] = X.shape[0]
        return
    if algorithm == "sparse":
        _check_sparse_samples(X, metric, sizes)
        return
    known = ("kd_tree", "brute") if metric.kind == "features" else ("precomputed",)
    demand(algorithm in known, f"the algorithm {algorithm!r} does not suit metric={metric.name!r}")
    if metric.kind == "precomputed":
        demand(X is None, "a model of precomputed distances keeps no samples")
        sizes["samples"] = sizes["features"]
        return
    if metric.kind == "features":
        check_algorithm(metric, algorithm)
    types = FEATURE_TYPES if metric.kind == "features" else FEATURE_TYPES[1:]
    array("samples features", types, gaps=metric.takes_gaps)(model, name, sizes)
    demand(len(X) and X.flags.c_contiguous, "the training samples are missing, or not stored row by row")
    # SciPy does not always check the form of its parameters.
    for key, value in metric.params.items() if metric.kind == "matrix" else ():
        shape, values = (sizes["features"],) * len(SHAPES[key]), np.asarray(value)
        is_array = values.dtype.kind in "biuf" and values.shape == shape
        is_given = is_array or (key == "w" and value is None)
        demand(is_given, f"metric={metric.name!r} needs {key} of shape {shape} in its parameters")
    check_training_values(X, complete_metric(metric, X))


def _check_sparse_samples(X: Any, metric: Metric, sizes: Sizes) -> None:
    """Check training samples of which a file has the values that are not 0."""
    check_sparse(metric, "auto")
    is_sparse = type(X) is SparseSamples and type(X.n_features) is int
    is_wide = is_sparse and X.n_features == sizes["features"]
    demand(is_wide, "the training samples are not a sparse matrix of as many features")
    indptr = array("*", INDEX_TYPES[1:])(X, "indptr", sizes)
    columns = indices("values", "features")(X, "indices", sizes)
    data = array("values", FEATURE_TYPES)(X, "data", sizes)
    matrix = csr_array((data, columns, indptr), shape=(len(indptr) - 1, X.n_features))
    matrix.check_format()
    demand(len(X) and indptr[-1] == len(columns), "indptr does not divide the values into rows")
    is_sorted = columns.dtype == np.int32 and matrix.has_canonical_format
    demand(is_sorted and data.all(), "the features of a row do not ascend, or a value is 0")
    check_training_values(X, metric)
    sizes["samples"] = len(X)


def check_growth(model: Any, name: str, sizes: Sizes) -> None:
    """Check what a model keeps in order to grow."""
    grown, n_samples = vars(model)[name], sizes["samples"]
    is_table = type(grown) is dict and all(type(key) is str for key in grown)
    demand(is_table, "what is kept to grow is not a table of arrays")
    part, sizes = SimpleNamespace(**grown), {"samples": n_samples, "arcs": n_samples - 1}
    if "magnitude" in grown:
        number()(part, "magnitude", sizes)
    if grown.get("indices") is not None:
        k = indices("samples neighbors", "samples")(part, "indices", sizes).shape[1]
        distances = array("samples neighbors", nonnegative=True)(part, "distances", sizes)
        is_sorted = k < n_samples and (np.diff(distances, axis=1) >= 0).all()
        demand(is_sorted, "the neighbour lists do not ascend, or are longer than there are neighbours")
    if grown.get("weight") is not None:
        source, target = ends = [indices("arcs", "samples")(part, end, sizes) for end in ("source", "target")]
        order = np.lexsort((target, source, array("arcs", nonnegative=True)(part, "weight", sizes)))
        is_sorted = (order == np.arange(n_samples - 1)).all() and (source < target).all()
        demand(is_sorted, "the arcs of the spanning tree are not in order")
        arcs = coo_array((np.ones(n_samples - 1), ends), shape=(n_samples, n_samples))
        n_parts = connected_components(arcs, directed=False, return_labels=False)
        demand(n_parts == 1, "the spanning tree does not join all samples")
    if "codes" in grown:
        check_classes(part, "values", sizes)
        indices("samples", "classes")(part, "codes", sizes)
        if grown.get("named") is not None:
            check_classes(part, "named", sizes)


# Forests


def check_paths(model: Any) -> np.ndarray:
    """Return where the path to every sample starts; paths may not run in circles."""
    predecessor, n_samples = model.predecessor_, len(model.predecessor_)
    # Each round doubles the number of steps, so all paths end at a root unless they run in circles.
    reached = np.where(predecessor < 0, np.arange(n_samples), predecessor)
    for _ in range(n_samples.bit_length()):
        reached = reached[reached]
    demand((predecessor[reached] < 0).all(), "predecessor_ runs in circles")
    return reached


def check_forest(model: Any, sizes: Sizes) -> None:
    """Check that paths lead to the root of every sample, a prototype, and carry its label."""
    demand(np.array_equal(check_paths(model), model.root_), "predecessor_ does not lead to root_")
    starts = np.flatnonzero(model.predecessor_ < 0)
    is_same = np.array_equal(starts, np.sort(model.prototypes_))
    demand(is_same, "predecessor_ is not -1 exactly where paths start, at prototypes_")
    classes, codes = model.classes_, model._fit_codes
    # The type first: labels as wide as those of the classes take no more memory than `label_`.
    label = array("samples", (classes.dtype,))(model, "label_", sizes)
    is_same = np.array_equal(codes, codes[model.root_]) and np.array_equal(label, classes[codes])
    demand(is_same, "label_ and the labels of the roots differ")


def check_order(model: Any, sizes: Sizes) -> None:
    """Check that `order_` lists every sample once, by ascending cost, which is 0 at prototypes."""
    demand(not model.cost_[model.prototypes_].any(), "cost_ is not 0 at the prototypes")
    order = model.order_
    is_each = (np.bincount(order, minlength=len(order)) == 1).all()
    demand(is_each, "order_ does not list every sample once")
    demand((np.diff(model.cost_[order]) >= 0).all(), "order_ does not sort cost_")


# From tables: the name of the labels, and a checksum of the rows.
INPUT = {"feature_names_in_": None, "label_name_": one_of(str, "text"), "_fit_rows": one_of(str, "text")}
LEARNED = {"n_features_in_": check_features, "_fit_metric": check_metric}
SAMPLES = Saved(
    LEARNED | {"_fit_algorithm": None, "_fit_X": check_samples},
    INPUT | {"categories_": check_categories},
    derived=("_fit_cache",),
    derive=lambda model: setattr(model, "_fit_cache", {}),
)
GROWTH = {"_fit_grown": check_growth}  # stored if asked for
PATHS = {
    "predecessor_": indices("samples", "samples", start=-1),
    "root_": indices("samples", "samples"),
    "cost_": array("samples", nonnegative=True),
}
FOREST = SAMPLES.extended(
    {
        "classes_": check_classes,
        "prototypes_": indices("*", "samples"),
        **PATHS,
        "_fit_codes": indices("samples", "classes"),
        "label_": None,
    },
    None,
    check_forest,
)


# Transformers


def check_transformer(transformer: Any, n_features: int) -> int:
    """Raise ValueError unless a transformer takes samples of `n_features`; return how many it gives."""
    if transformer is None or transformer == PASSED:
        return n_features
    name, sizes = type(transformer).__name__, {"features": n_features}
    demand(name in PARTS and hasattr(transformer, "transform"), f"a {name} is not a transformer")
    check_attributes(transformer, TABLES[name], sizes)
    return sizes.get("outputs", n_features)


def transformer(given: str) -> Rule:
    """Make the rule of a transformer that takes as many features as the length `given`."""

    def check(value: Any, name: str, sizes: Sizes) -> None:
        sizes["outputs"] = check_transformer(vars(value)[name], sizes[given])

    return check


def check_steps(pipeline: Any, n_features: int, stop: int | None = None) -> int:
    """Check the steps of a pipeline, up to `stop` as transformers; return how many features they give."""
    steps = pipeline.steps
    demand(type(steps) is list and steps, "a pipeline has no steps")
    is_named = all(type(step) is tuple and len(step) == 2 and type(step[0]) is str for step in steps)
    demand(is_named, "the steps of a pipeline are not pairs of name and transformer")
    for _, step in steps[:stop]:
        n_features = check_transformer(step, n_features)
    return n_features


def check_pipeline_model(pipeline: Any) -> None:
    """Check a pipeline of transformers that ends with one of our models."""
    check_steps(pipeline, 1, 0)
    model = pipeline.steps[-1][1]
    demand(type(model).__name__ in MODELS, "a pipeline does not end with a model of pathforest")
    first = next(step for _, step in pipeline.steps if step not in (None, PASSED))
    made = check_steps(pipeline, whole(1)(first, "n_features_in_", {}), -1)
    wanted = model.n_features_in_
    demand(wanted == made, f"a pipeline makes {made} features for a model of {wanted}")


def _check_output(transformer: Any, name: str, sizes: Sizes) -> None:
    config = vars(transformer)[name]  # of set_output
    is_known = type(config) is dict and {*config} <= {"transform"} and {*config.values()} <= OUTPUTS
    demand(is_known, "_sklearn_output_config does not name an output")


TABLE = Saved(
    {"n_features_in_": check_features}, {"feature_names_in_": None, "_sklearn_output_config": _check_output}
)


def _scaler(**arrays: str) -> Saved:
    """Make the table of a scaler: arrays with a value for each feature, and parameters that ask for them."""

    def check(scaler: Any, sizes: Sizes) -> None:
        scaler._validate_params()
        for name, wanted in arrays.items():
            if getattr(scaler, wanted, True):
                array("features", FEATURE_TYPES)(scaler, name, sizes)
        limits = getattr(scaler, "feature_range", ())
        demand({*map(type, limits)} <= {int, float}, "feature_range is not a pair of numbers")

    found = ("n_samples_seen_", "var_", "data_min_", "data_max_", "data_range_", "max_abs_")
    return TABLE.extended({}, dict.fromkeys((*arrays, *found)), check)


def _check_components(pca: Any, name: str, sizes: Sizes) -> None:
    pca._validate_params()
    sizes["outputs"] = whole(1)(pca, name, sizes)


OTHERS = {
    "sklearn.preprocessing": {
        "StandardScaler": _scaler(mean_="with_mean", scale_="with_std"),
        "MinMaxScaler": _scaler(min_="", scale_=""),
        "MaxAbsScaler": _scaler(scale_=""),
        "RobustScaler": _scaler(center_="with_centering", scale_="with_scaling"),
    },
    "sklearn.decomposition": {
        "PCA": TABLE.extended(
            {
                "n_components_": _check_components,
                "components_": array("outputs features", FEATURE_TYPES),
                "mean_": array("features", FEATURE_TYPES),
                "explained_variance_": array("outputs", FEATURE_TYPES, nonnegative=True),
            },
            dict.fromkeys(("explained_variance_ratio_", "singular_values_", "noise_variance_", "n_samples_")),
            derived=("_fit_svd_solver",),
        )
    },
    # The `memory` of a pipeline is left out on purpose: scikit-learn would unpickle files of a folder.
    "sklearn.pipeline": {
        "Pipeline": Saved(
            agree=(lambda pipeline, sizes: sizes.update(outputs=check_steps(pipeline, sizes["features"])),),
            params=("steps", "verbose"),
        )
    },
    "sklearn.model_selection": dict.fromkeys(
        ("KFold", "StratifiedKFold", "StratifiedGroupKFold"),
        Saved(params=("n_splits", "shuffle", "random_state")),
    ),
    SparseSamples.__module__: {"SparseSamples": Saved(params=("indptr", "indices", "data", "n_features"))},
}
for _module, _tables in OTHERS.items():
    TABLES |= _tables
    PARTS |= dict.fromkeys(_tables, _module)
