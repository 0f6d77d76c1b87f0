#include "pathforest/distances/copy_numbers.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace pathforest {
namespace {

// Multiplying moves what is known of a row to the high bits, shifting brings it back to the low ones.
template <class T>
std::size_t hash_row(const T* row, Index n_features) {
    std::uint64_t hash = 0;
    for (Index j = 0; j < n_features; ++j) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(static_cast<double>(row[j]))) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
}

}  // namespace

template <class T>
std::vector<Index> copy_numbers(const T* X, Index n_rows, Index n_features) {
    const auto row = [&](Index i) { return X + at(i, n_features); };
    const auto same = [&](Index a, Index b) {
        return std::memcmp(row(a), row(b), as_size(n_features) * sizeof(T)) == 0;
    };
    // The first of every kind, in the first free place from where its hash points; at least half are free.
    std::vector<Index> first(std::bit_ceil(2 * as_size(n_rows) + 1), none);
    std::vector<Index> count(as_size(n_rows), 0);
    std::vector<Index> number(as_size(n_rows));
    for (Index i = 0; i < n_rows; ++i) {
        std::size_t place = hash_row(row(i), n_features) & (first.size() - 1);
        while (first[place] != none && !same(first[place], i)) place = (place + 1) & (first.size() - 1);
        if (first[place] == none) first[place] = i;
        number[as_size(i)] = count[as_size(first[place])]++;
    }
    return number;
}

template std::vector<Index> copy_numbers(const float*, Index, Index);
template std::vector<Index> copy_numbers(const double*, Index, Index);

}  // namespace pathforest
