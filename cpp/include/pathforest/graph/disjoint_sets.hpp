// Disjoint sets of samples under union.
#pragma once

#include "pathforest/types.hpp"

#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace pathforest {

class DisjointSets {
  public:
    explicit DisjointSets(Index count) : parent_(as_size(count)), size_(as_size(count), 1) {
        std::iota(parent_.begin(), parent_.end(), Index{0});
    }

    Index find(Index i) {
        while (parent(i) != i) {
            parent(i) = parent(parent(i));
            i = parent(i);
        }
        return i;
    }

    // False if a and b were together already.
    bool unite(Index a, Index b) {
        a = find(a);
        b = find(b);
        if (a == b) return false;
        if (size(a) < size(b)) std::swap(a, b);
        parent(b) = a;
        size(a) += size(b);
        return true;
    }

    Index size_of(Index i) { return size(find(i)); }

  private:
    Index& parent(Index i) { return parent_[as_size(i)]; }
    Index& size(Index i) { return size_[as_size(i)]; }

    std::vector<Index> parent_;
    std::vector<Index> size_;
};

// Per sample, one of its part, the same for all of it: samples of one class that arcs of lists join.
inline std::vector<Index> parts_of_classes(const KnnGraph& graph, std::span<const Index> code) {
    DisjointSets parts(graph.n_samples);
    for (Index i = 0; i < graph.n_samples; ++i) {
        for (Index c = 0; c < graph.k; ++c) {
            const Index j = graph.index(i, c);
            if (code[as_size(i)] == code[as_size(j)]) parts.unite(i, j);
        }
    }
    std::vector<Index> found(code.size());
    for (Index i = 0; i < graph.n_samples; ++i) found[as_size(i)] = parts.find(i);
    return found;
}

}  // namespace pathforest
