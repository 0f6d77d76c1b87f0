// Who is joined to whom, when the arcs do not come sample by sample.
#pragma once

#include "pathforest/ties.hpp"

#include <numeric>
#include <span>
#include <vector>

namespace pathforest {

// Samples and what they are joined to, row by row.
struct Adjacency {
    std::vector<std::size_t> begin;
    std::vector<Neighbour> entries;

    // for_each(visit) calls visit(row, neighbour) for all entries, twice over, in the same order.
    template <class ForEach>
    Adjacency(Index n_rows, ForEach for_each) : begin(as_size(n_rows) + 1, 0) {
        for_each([&](Index row, const Neighbour&) { ++begin[as_size(row) + 1]; });
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        entries.resize(begin.back());
        std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
        for_each([&](Index row, const Neighbour& neighbour) { entries[next[as_size(row)]++] = neighbour; });
    }

    std::span<const Neighbour> of(Index row) const {
        return {entries.data() + begin[as_size(row)], entries.data() + begin[as_size(row) + 1]};
    }
};

// Per sample, who has it in its list.
inline Adjacency reversed_lists(const KnnGraph& graph) {
    return Adjacency(graph.n_samples, [&](auto visit) {
        for (Index u = 0; u < graph.n_samples; ++u) {
            for (Index c = 0; c < graph.k; ++c) visit(graph.index(u, c), {graph.distance(u, c), u});
        }
    });
}

}  // namespace pathforest
