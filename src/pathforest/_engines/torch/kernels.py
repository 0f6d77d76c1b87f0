"""Kernels that look at products while they are in registers, so that a block of them is never written.

Samples come in tiles of columns. Within a tile, columns that are `CELLS` apart make a group: that is how
tensor cores spread a tile over threads, so each thread finds the best of its groups on its own.

A kernel is compiled when it is first called, once for each set of `tl.constexpr`. So these are few, and
neither the number of features nor the look decides about them.
"""

from __future__ import annotations

import triton
import triton.language as tl

# Of twelve shapes this was the fastest on an H200.
ROWS, COLUMNS, CELLS = 64, 256, 8  # of a tile: queries, samples, and groups of samples
GROUP = COLUMNS // CELLS  # samples of a group
FEATURES = 32, 64  # that are read at a time: the first if there are no more, else the second
WARPS, STAGES = 4, 3  # 80 KB of shared memory, 120 on Hopper: every GPU with capability 8.0 has that
ITEMS = 4  # groups that one program measures
PAIRS = 128  # that one program compares exactly, one per thread


def at_once(n_features: int) -> int:
    """Return how many features are read at a time."""
    return FEATURES[n_features > FEATURES[0]]


# Numbers that change from look to look: no code is made for special ones.
@triton.jit(do_not_specialize=["first_tile", "n_tiles", "tiles_each", "width", "all_groups"])
def scan_kernel(
    queries,  # (m, D) half
    samples,  # (n, D) half
    half_norms,  # (n,) what to subtract from a product
    threshold,  # (m,) the value from which on a group is wanted
    query_side,  # (m,) component of a query, or the value that a cost is subtracted from
    sample_side,  # (n,) component of a sample, or half its cost
    values,  # (m, width) best values of groups
    groups,  # (m, width) their numbers
    counts,  # (m,) how many were found
    first_tile,
    n_tiles,
    tiles_each,
    width,
    all_groups,  # 1: write all groups, in order; 0: those that are wanted
    D,
    K: tl.constexpr,  # features at a time, which divide D
    WHOLE: tl.constexpr,  # whether these are all
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CELLS: tl.constexpr,
    FOREIGN: tl.constexpr,
    COSTS: tl.constexpr,
):
    """Find the groups of samples whose best value for a query reaches its threshold."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    features, columns, cells = tl.arange(0, K), tl.arange(0, COLUMNS), tl.arange(0, CELLS)
    query_at = queries + rows.to(tl.int64)[:, None] * D + features[None, :]
    found_at = rows.to(tl.int64)[:, None] * width
    if WHOLE:
        q = tl.load(query_at)
    if FOREIGN or COSTS:
        of_query = tl.load(query_side + rows)
    wanted = tl.load(threshold + rows)
    none = tl.zeros((ROWS, CELLS), dtype=tl.int32)
    counter, is_dense = counts + rows[:, None] + none, none + all_groups > 0
    start = first_tile + tl.program_id(1) * tiles_each
    for tile in range(start, tl.minimum(start + tiles_each, first_tile + n_tiles)):
        inside = tile * COLUMNS + columns
        sample_at = samples + inside.to(tl.int64)[None, :] * D + features[:, None]
        if WHOLE:
            value = tl.dot(q, tl.load(sample_at))
        else:
            value = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
            for feature in range(0, D, K):
                value = tl.dot(tl.load(query_at + feature), tl.load(sample_at + feature), value)
        value -= tl.load(half_norms + inside)[None, :]
        if COSTS:
            value = tl.minimum(value, of_query[:, None] - tl.load(sample_side + inside)[None, :])
        if FOREIGN:
            same = of_query[:, None] == tl.load(sample_side + inside)[None, :]
            value = tl.where(same, -float("inf"), value)
        best = tl.max(tl.reshape(value, (ROWS, COLUMNS // CELLS, CELLS)), axis=1)
        hit = is_dense | (best >= wanted[:, None])
        counted = tl.atomic_add(counter, 1, mask=hit & ~is_dense, sem="relaxed")
        place = tl.where(is_dense, ((tile - first_tile) * CELLS + cells)[None, :], counted)
        fits = hit & (place < width)
        tl.store(values + found_at + place, best, mask=fits)
        tl.store(groups + found_at + place, (tile * CELLS + cells)[None, :] + none, mask=fits & ~is_dense)


@triton.jit(do_not_specialize=["n_items"])
def measure_kernel(
    queries,  # (m, d)
    samples,  # (n, d)
    order,  # (padded n,) the sample in each column, -1 if there is none
    item_query,
    item_group,
    n_items,
    scale,  # (1,) float64, which an argument would not be
    squares,  # (n_items, GROUP) what is found
    d,
    K: tl.constexpr,
    ITEMS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CELLS: tl.constexpr,
):
    """Measure squared distances to the samples of groups: differences in float64, sums in float32."""
    GROUP: tl.constexpr = COLUMNS // CELLS
    items = tl.program_id(0) * ITEMS + tl.arange(0, ITEMS)
    exists = items < n_items
    group = tl.load(item_group + items, mask=exists, other=0)
    within = tl.arange(0, GROUP)
    column = ((group // CELLS) * COLUMNS + group % CELLS)[:, None] + within[None, :] * CELLS
    sample = tl.load(order + column, mask=exists[:, None], other=-1)
    query = tl.load(item_query + items, mask=exists, other=0)
    query_at = queries + query.to(tl.int64)[:, None] * d
    sample_at = samples + tl.maximum(sample, 0).to(tl.int64)[:, :, None] * d
    factor = tl.load(scale)
    total = tl.zeros((ITEMS, GROUP), dtype=tl.float32)
    for first in range(0, d, K):
        feature = first + tl.arange(0, K)
        known = feature < d
        q = tl.load(query_at + feature[None, :], mask=known[None, :], other=0.0).to(tl.float64)
        x = tl.load(sample_at + feature[None, None, :], mask=known[None, None, :], other=0.0).to(tl.float64)
        difference = ((q[:, None, :] - x) * factor).to(tl.float32)
        total += tl.sum(difference * difference, axis=2)
    total = tl.where(sample >= 0, total, float("inf"))
    place = items.to(tl.int64)[:, None] * GROUP + within[None, :]
    tl.store(squares + place, total, mask=exists[:, None])


@triton.jit(do_not_specialize=["n_pairs"])
def sum_kernel(
    queries,  # (m, d)
    samples,  # (n, d)
    query,  # (n_pairs,)
    sample,
    sums,  # (n_pairs,) float64, what is found
    n_pairs,
    d,
    PRODUCTS: tl.constexpr,  # whether terms are products, or squared differences
    PAIRS: tl.constexpr,
):
    """Add up the terms of pairs of rows in feature order; without fused operations, each is rounded alone."""
    pairs = tl.program_id(0) * PAIRS + tl.arange(0, PAIRS)
    exists = pairs < n_pairs
    query_at = queries + tl.load(query + pairs, mask=exists, other=0) * d
    sample_at = samples + tl.load(sample + pairs, mask=exists, other=0) * d
    total = tl.zeros((PAIRS,), dtype=tl.float64)
    for feature in range(0, d):
        a, b = tl.load(query_at + feature).to(tl.float64), tl.load(sample_at + feature).to(tl.float64)
        total += a * b if PRODUCTS else (a - b) * (a - b)
    tl.store(sums + pairs, total, mask=exists)
