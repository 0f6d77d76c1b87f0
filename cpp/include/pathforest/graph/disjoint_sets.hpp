// Disjoint sets of samples under union.
#pragma once

#include "pathforest/types.hpp"

#include <numeric>
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

}  // namespace pathforest
