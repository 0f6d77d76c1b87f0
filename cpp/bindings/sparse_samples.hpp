// Sparse samples as they come from Python: any object with indptr, indices, data and n_features. These are
// plain attributes, for code in Python may let go of the GIL (arrays.hpp).
#pragma once

#include "arrays.hpp"
#include "pathforest/distances/sparse_rows.hpp"

#include <functional>

namespace pathforest {

// The arrays must outlive the rows.
template <class T>
struct SparseSamples {
    Vector<std::int64_t> indptr;
    Vector<Index> indices;
    Vector<T> data;
    std::size_t n_features;

    std::size_t n_rows() const { return indptr.size() - 1; }

    // Kernels trust what they are given: features that ascend, and exist.
    std::vector<SparseRow<T>> rows() const {
        const std::int64_t* starts = indptr.data();
        if (indptr.size() == 0 || starts[0] != 0 || data.size() != indices.size() ||
            starts[n_rows()] != static_cast<std::int64_t>(data.size()))
            throw std::invalid_argument("indptr does not divide indices and data into rows");
        const Index end = as_count(n_features, "features");
        std::vector<SparseRow<T>> rows;
        rows.reserve(n_rows());
        for (std::size_t i = 0; i < n_rows(); ++i) {
            if (starts[i] < 0 || starts[i] > starts[i + 1] || starts[i + 1] > starts[n_rows()])
                throw std::invalid_argument("indptr does not ascend");
            const auto start = static_cast<std::size_t>(starts[i]);
            const auto size = static_cast<std::size_t>(starts[i + 1]) - start;
            const std::span<const Index> features{indices.data() + start, size};
            const bool ascend = std::adjacent_find(features.begin(), features.end(),
                                                   std::greater_equal<>{}) == features.end();
            if (!ascend || (size > 0 && (features.front() < 0 || features.back() >= end)))
                throw std::invalid_argument("the indices of a row do not ascend, or are not features");
            rows.push_back({features, {data.data() + start, size}});
        }
        return rows;
    }
};

}  // namespace pathforest

namespace nanobind::detail {

template <class T>
struct type_caster<pathforest::SparseSamples<T>> {
    NB_TYPE_CASTER(pathforest::SparseSamples<T>, const_name("pathforest._utils.sparse.SparseSamples"))

    bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
        return read(source, "indptr", value.indptr) && read(source, "indices", value.indices) &&
               read(source, "data", value.data) && read(source, "n_features", value.n_features);
    }

  private:
    template <class V>
    static bool read(handle source, const char* name, V& value) noexcept {
        const object attribute = getattr(source, name, none());
        return !attribute.is_none() && try_cast<V>(attribute, value, false);
    }
};

}  // namespace nanobind::detail
