#include "pathforest/distances/copy_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace pathforest {
namespace {

// Multiplying moves what is known of a row to the high bits, shifting brings it back to the low ones.
class RowHash {
  public:
    template <class T>
    void add(T value) {
        hash_ = (hash_ ^ std::bit_cast<std::uint64_t>(static_cast<double>(value))) * 0x9e3779b97f4a7c15;
        hash_ ^= hash_ >> 32;
    }
    std::size_t value() const { return static_cast<std::size_t>(hash_); }

  private:
    std::uint64_t hash_ = 0;
};

// add(i, hash) adds row i to its hash, same(i, j) says whether two rows are equal.
template <class Add, class Same>
std::vector<Index> number_copies(Index n_rows, std::span<const Index> groups, Add add, Same same) {
    const auto group = [&](Index i) { return groups.empty() ? 0 : groups[as_size(i)]; };
    const auto is_copy = [&](Index a, Index b) { return group(a) == group(b) && same(a, b); };
    // The first of every kind, in the first free place from where its hash points; at least half are free.
    std::vector<Index> first(std::bit_ceil(2 * as_size(n_rows) + 1), none);
    std::vector<Index> count(as_size(n_rows), 0);
    std::vector<Index> number(as_size(n_rows));
    for (Index i = 0; i < n_rows; ++i) {
        RowHash hash;
        hash.add(group(i));
        add(i, hash);
        std::size_t place = hash.value() & (first.size() - 1);
        while (first[place] != none && !is_copy(first[place], i)) place = (place + 1) & (first.size() - 1);
        if (first[place] == none) first[place] = i;
        number[as_size(i)] = count[as_size(first[place])]++;
    }
    return number;
}

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace

template <class T>
std::vector<Index> copy_numbers(const T* X, Index n_rows, Index n_features, std::span<const Index> groups) {
    const auto row = [&](Index i) { return std::span(X + at(i, n_features), as_size(n_features)); };
    return number_copies(
        n_rows, groups,
        [&](Index i, RowHash& hash) {
            for (const T value : row(i)) hash.add(value);
        },
        [&](Index a, Index b) { return same_bits(row(a), row(b)); });
}

template <class T>
std::vector<Index> copy_numbers(std::span<const SparseRow<T>> rows, std::span<const Index> groups) {
    return number_copies(
        static_cast<Index>(rows.size()), groups,
        [&](Index i, RowHash& hash) {
            for (const Index feature : rows[as_size(i)].features) hash.add(feature);
            for (const T value : rows[as_size(i)].values) hash.add(value);
        },
        [&](Index a, Index b) {
            const SparseRow<T>&left = rows[as_size(a)], &right = rows[as_size(b)];
            return same_bits(left.features, right.features) && same_bits(left.values, right.values);
        });
}

template std::vector<Index> copy_numbers(const float*, Index, Index, std::span<const Index>);
template std::vector<Index> copy_numbers(const double*, Index, Index, std::span<const Index>);
template std::vector<Index> copy_numbers(std::span<const SparseRow<float>>, std::span<const Index>);
template std::vector<Index> copy_numbers(std::span<const SparseRow<double>>, std::span<const Index>);

}  // namespace pathforest
