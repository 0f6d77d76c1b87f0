// Sparse samples: of each row only the features that are not 0, in ascending order.
#pragma once

#include "pathforest/types.hpp"

#include <algorithm>
#include <numeric>
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

// For each feature that is not 0 everywhere, the samples that have it, in ascending order. There may be many
// more features than values, so the others take no memory.
template <class T>
struct SparseColumns {
    std::vector<Index> features;  // ascending
    SparseTable<T> samples;       // per entry of `features`

    SparseRow<T> of(Index feature) const {
        const Index number = number_of(feature);
        const bool exists =
            number < static_cast<Index>(features.size()) && features[as_size(number)] == feature;
        return exists ? samples.row(number) : SparseRow<T>{};
    }

    // How many of `features` come before this one.
    Index number_of(Index feature) const {
        return static_cast<Index>(std::lower_bound(features.begin(), features.end(), feature) -
                                  features.begin());
    }
};

template <class T>
SparseColumns<T> columns_of(const SparseTable<T>& rows) {
    SparseColumns<T> columns;
    columns.features = rows.places;
    std::sort(columns.features.begin(), columns.features.end());
    columns.features.erase(std::unique(columns.features.begin(), columns.features.end()),
                           columns.features.end());
    columns.features.shrink_to_fit();
    std::vector<Index> number(rows.places.size());
    std::vector<std::size_t>& starts = columns.samples.starts;
    starts.assign(columns.features.size() + 1, 0);
    for (std::size_t entry = 0; entry < number.size(); ++entry) {
        number[entry] = columns.number_of(rows.places[entry]);
        ++starts[as_size(number[entry]) + 1];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    columns.samples.places.resize(rows.places.size());
    columns.samples.values.resize(rows.values.size());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i) {
        for (std::size_t entry = rows.starts[i]; entry < rows.starts[i + 1]; ++entry) {
            const std::size_t place = next[as_size(number[entry])]++;
            columns.samples.places[place] = static_cast<Index>(i);
            columns.samples.values[place] = rows.values[entry];
        }
    }
    return columns;
}

}  // namespace pathforest
