"""The rows of the table, as data: which work, on which data, against which peers, and the bar."""

from typing import NamedTuple

from benchmarks.speed.contender import Contender
from benchmarks.speed.data import Spec
from benchmarks.speed.ours import OURS
from benchmarks.speed.peers import PEERS

CONTENDERS: dict[str, Contender] = OURS | PEERS


class Bar(NamedTuple):
    """A limit on our time as a multiple of a peer's; of several peers the fastest counts."""

    peers: tuple[str, ...]
    limit: float | None = None  # None: shown for orientation
    quick: bool = True  # False: the peer is too slow for `make bench ARGS=--quick`


class Row(NamedTuple):
    """A piece of work on one dataset."""

    work: str
    data: Spec
    bars: tuple[Bar, ...]
    quick: bool = False  # whether `make bench ARGS=--quick` includes it


class Limit(NamedTuple):
    """A bar that is not a comparison: the peak memory in MB, or the growth exponent, of our training."""

    work: str
    data: tuple[Spec, ...]
    limit: float
    quick: bool = False


def _mixture(n_samples: int, n_features: int) -> Spec:
    return Spec("mixture", n_samples, n_features)


def _bar(peer: str, limit: float | None = None) -> Bar:
    return Bar((peer,), limit)


_FIT, _SEARCH = "OPFClassifier.fit", "FuzzyOPFClassifierCV.fit"
_HDBSCAN, _EMST, _QUITE_FAST = "fast_hdbscan tree", "mlpack emst", "quitefastmst tree"
_FAISS_10, _FAISS_100, _FAISS_1 = "faiss kNN, k = 10", "faiss kNN, k = 100", "faiss 1-NN"
_KDTREE_10, _KDTREE_100, _KDTREE_1 = "cKDTree query, k = 10", "cKDTree query, k = 100", "cKDTree 1-NN"
_SKLEARN, _ONE_MODEL = "KNeighborsClassifier(1)", "one model with k_max=150, fit + predict"

ROWS = [
    Row(_FIT, _mixture(100_000, 2), (_bar(_QUITE_FAST, 0.8), _bar(_EMST, 0.5), _bar(_HDBSCAN, 0.15)), True),
    *(Row(_FIT, _mixture(100_000, d), (_bar(_QUITE_FAST, 0.8),)) for d in (3, 5)),
    Row(_FIT, _mixture(100_000, 8), (_bar(_QUITE_FAST, 0.8), _bar(_HDBSCAN, 0.25), _bar(_KDTREE_10, 1.5))),
    Row(_FIT, _mixture(20_000, 20), (_bar(_FAISS_10, 1.0), Bar((_HDBSCAN,), 0.2, quick=False)), quick=True),
    *(Row(_FIT, _mixture(20_000, d), (_bar(_FAISS_10, 1.0),)) for d in (64, 784)),
    *(
        Row(_FIT, Spec("clusters", n, d), (_bar(_FAISS_10, 0.9),))
        for n, d in ((16_000, 48), (16_000, 128), (10_000, 784))
    ),
    # A search tree is not competitive above 8 features, and neither is a flat scan of 100,000 samples below.
    *(
        Row(f"FuzzyOPFClassifier.fit, {competition}", _mixture(n, d), (Bar(peers, 1.5),))
        for n, d, peers in [
            (100_000, 2, (_KDTREE_100,)),
            (100_000, 8, (_KDTREE_100, _FAISS_100)),
            (20_000, 20, (_FAISS_100,)),
            (20_000, 64, (_FAISS_100,)),
            (20_000, 784, (_FAISS_100,)),
        ]
        for competition in ("complete", "tree")
    ),
    Row("OPFSemiSupervisedClassifier.fit", _mixture(20_000, 20), (_bar(_FIT, 2.0),), quick=True),
    Row("k* search alone", _mixture(10_000, 20), (_bar(_FAISS_100, 3.0),), quick=True),
    Row("k* search alone", _mixture(100_000, 2), (_bar(_KDTREE_100, 3.0),)),
    Row("FuzzyOPFClassifier.fit, k* search", _mixture(10_000, 20), (_bar(_FAISS_100),)),
    Row("FuzzyOPFClassifier.fit, k* search", _mixture(100_000, 2), (_bar(_KDTREE_100),)),
    Row("OPFClustering.fit", Spec("clusters", 50_000, 2), (_bar("fast_hdbscan clusters", 1.0),), quick=True),
    Row("predict", _mixture(100_000, 2), (_bar(_KDTREE_1, 1.5), _bar(_SKLEARN, 0.6)), quick=True),
    Row("predict", _mixture(80_000, 3), (_bar(_KDTREE_1, 1.3),)),
    Row("predict", _mixture(100_000, 8), (_bar(_KDTREE_1, 1.5), _bar(_SKLEARN, 0.6))),
    Row("predict", _mixture(10_000, 20), (_bar(_FAISS_1, 1.0),), quick=True),
    Row("predict", _mixture(10_000, 64), (_bar(_FAISS_1, 1.0),), quick=True),
    Row("predict", _mixture(20_000, 784), (_bar(_FAISS_1, 1.0),)),
    *(
        Row(f"{work}, 3,000 classes", _mixture(20_000, d), (_bar(f"{work}, 10 classes", 4.0),))
        for work in ("predict", "find_issues")
        for d in (3, 32)
    ),
    Row("predict_proba", _mixture(10_000, 64), (_bar("predict", 2.0),), quick=True),
    Row("partial_fit, 1,000 samples", _mixture(100_000, 64), (_bar(_FIT, 0.05),)),
    Row("partial_fit, 1,000 samples", _mixture(100_000, 2), (_bar(_FIT, 0.3),), quick=True),
    Row("partial_fit, 1 sample", _mixture(100_000, 64), (_bar(_FIT, 0.005),)),
    Row("partial_fit, 1 sample", _mixture(100_000, 2), (_bar(_FIT),)),
    Row("partial_fit, batches of 100", _mixture(20_000, 20), (_bar(_FIT, 10.0),), quick=True),
    Row("forget, 1,000 samples", _mixture(100_000, 64), (_bar(_FIT),)),
    Row("forget, 1,000 samples", _mixture(100_000, 2), (_bar(_FIT),)),
    Row("search of the paper's grid", _mixture(4000, 21), (_bar(_ONE_MODEL, 6.0),), quick=True),
    *(
        Row(_SEARCH, _mixture(n, d), (_bar("FuzzyOPFClassifier.fit, tree, k_max=30", 8.0),), n <= 20_000)
        for n, d in [(5000, 20), (20_000, 20), (20_000, 64), (50_000, 2), (200_000, 2)]
    ),
    Row("FuzzyOPFClassifierCV.predict", _mixture(20_000, 20), (_bar("its best model's predict", 2.5),)),
    Row("fit + predict, defaults", _mixture(100, 4), (_bar("KNeighborsClassifier(1), defaults", 1.5),), True),
    Row("import pathforest", _mixture(100, 4), (_bar("import sklearn.neighbors", 1.3),), quick=True),
    # Sparse matrices: a product is what any search needs, and writes its result.
    *(
        Row(
            f"{_FIT}{metric}",
            Spec(kind, 10_000, 20_000),
            (_bar("X @ X.T", 1.0), _bar("NearestNeighbors(10), cosine", 0.5)),
            quick=metric == ", cosine" and kind == "text",
        )
        for kind in ("text", "uniform text")
        for metric in (", cosine", "")
    ),
    # Other data; and, without a bar, the Python library for the same models, on few samples as it is slow.
    *(Row(_FIT, Spec("uniform", 100_000, d), (_bar(_QUITE_FAST, 0.8),)) for d in (2, 3, 5, 8)),
    Row("fit + predict", Spec("digits", 1347, 64), (_bar("opfython fit + predict"),)),
]

MEMORY = [
    Limit(_FIT, (_mixture(1_000_000, 2),), 1000.0, quick=True),
    Limit(_FIT, (_mixture(100_000, 64),), 1000.0),
]

GROWTH = Limit(_FIT, tuple(_mixture(50_000 * 2**i, 2) for i in range(5)), 1.15)
GROWTH_QUICK = GROWTH._replace(data=GROWTH.data[:3])
GROWTH_SEARCH = Limit(_SEARCH, tuple(_mixture(25_000 * 2**i, 2) for i in range(5)), 1.2)
