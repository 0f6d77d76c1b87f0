// Sparse samples: of each row only the features that are not 0, in ascending order.
#pragma once

#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest {

template <class T>
struct SparseRow {
    std::span<const Index> features;
    std::span<const T> values;
};

// Several rows one after the other, or, with features and samples changed about, several columns.
template <class T>
struct SparseTable {
    std::vector<std::size_t> starts{0};
    std::vector<Index> places;
    std::vector<T> values;

    SparseRow<T> row(Index i) const {
        const std::size_t start = starts[as_size(i)], size = starts[as_size(i) + 1] - start;
        return {{places.data() + start, size}, {values.data() + start, size}};
    }
};

// The samples that are not 0 in a feature, in ascending order.
template <class T>
SparseTable<T> columns_of(const SparseTable<T>& rows, Index n_features) {
    SparseTable<T> columns;
    columns.starts.assign(as_size(n_features) + 1, 0);
    for (const Index feature : rows.places) ++columns.starts[as_size(feature) + 1];
    for (std::size_t j = 1; j < columns.starts.size(); ++j) columns.starts[j] += columns.starts[j - 1];
    columns.places.resize(rows.places.size());
    columns.values.resize(rows.values.size());
    std::vector<std::size_t> next(columns.starts.begin(), columns.starts.end() - 1);
    for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i) {
        for (std::size_t entry = rows.starts[i]; entry < rows.starts[i + 1]; ++entry) {
            const std::size_t place = next[as_size(rows.places[entry])]++;
            columns.places[place] = static_cast<Index>(i);
            columns.values[place] = rows.values[entry];
        }
    }
    return columns;
}

}  // namespace pathforest
