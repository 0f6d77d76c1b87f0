// The engine for sparse samples. Terms of 0 change no sum, so the distance of two rows is a sum over the
// features that one of them has, in feature order: bit by bit that of the same rows with their zeros.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/distances/engines/blocks.hpp"
#include "pathforest/distances/sparse_rows.hpp"

#include <cmath>

namespace pathforest {

// A query meets all samples at once. For each of its features the column of the samples that have it is
// walked, which adds up the inner products of the query and every sample, in feature order. For "cosine" that
// is the sum of the definition; for squares it is an estimate that discards most samples.
template <class T>
class SparseEngine : public FlatEngine {
  public:
    using Value = SparseRow<T>;
    static constexpr const char* name = "sparse";
    static constexpr int tile = 32;

    struct Entry {
        Index feature;
        double value;

        friend bool operator==(const Entry&, const Entry&) = default;
    };

    struct Query {
        std::vector<Entry> values;
        double square;  // squared length
    };

    static bool serves(const Metric& metric) {
        return metric.name == "cosine" || metric.name == "euclidean" || metric.name == "sqeuclidean";
    }

    SparseEngine(std::span<const SparseRow<T>> rows, Index n_features, Metric metric)
        : FlatEngine(given_order(static_cast<Index>(rows.size()))), metric_(std::move(metric)),
          n_features_(n_features), allowance_(8 * (n_features + 8.0) * epsilon) {
        for (const SparseRow<T>& row : rows) {
            for (std::size_t j = 0; j < row.features.size(); ++j) {
                if (row.values[j] == 0) continue;
                rows_.places.push_back(row.features[j]);
                rows_.values.push_back(row.values[j]);
            }
            rows_.starts.push_back(rows_.places.size());
        }
        columns_ = columns_of(rows_, n_features);
        measure_lengths();
    }

    Index n_features() const { return n_features_; }

    void ask(const SparseRow<T>* row, Query& query) const {
        query.values.clear();
        query.square = 0;
        for (std::size_t j = 0; j < row->features.size(); ++j) {
            if (row->values[j] == 0) continue;
            const auto value = static_cast<double>(row->values[j]);
            query.values.push_back({row->features[j], value});
            query.square += value * value;
        }
    }

    void ask_sample(Index sample, Query& query) const {
        const SparseRow<T> row = rows_.row(sample);
        ask(&row, query);
    }

    template <Policy P>
    void search(const Query* queries, P* policies, Index count, const Pause& pause) const {
        std::vector<double> products(at(n_blocks(), lanes));
        for (Index i = 0; i < count; ++i) {
            pause();
            multiply(queries[i], products);
            if (is_cosine()) {
                scan(queries[i], products, policies[i], [&](Index sample) {
                    return cosine_distance(products[as_size(sample)], queries[i].square,
                                           squares_[as_size(sample)]);
                });
            } else {
                scan(queries[i], products, policies[i], [&](Index sample) {
                    return metric_.distance(sum_of_squares(queries[i], rows_.row(sample)), metric_.p);
                });
            }
        }
    }

  private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    static constexpr double smallest = std::numeric_limits<double>::min();
    static constexpr double largest = std::numeric_limits<double>::max();

    bool is_cosine() const { return metric_.sum == Sum::cosine; }

    void measure_lengths() {
        const std::size_t padded = at(n_blocks(), lanes);
        squares_.assign(padded, 0);
        scale_.assign(padded, 1);
        shift_.assign(padded, 0);
        Query query;
        for (Index sample = 0; sample < n_samples(); ++sample) {
            ask_sample(sample, query);
            const std::size_t i = as_size(sample);
            squares_[i] = query.square;
            largest_square_ = std::max(largest_square_, query.square);
            if (is_cosine()) {
                scale_[i] = query.square > 0 ? 1 / std::sqrt(query.square) : 0;
            } else {
                shift_[i] = query.square / 2 * (1 - allowance_);
            }
        }
    }

    void multiply(const Query& query, std::vector<double>& products) const {
        std::fill(products.begin(), products.end(), 0.0);
        for (const Entry& entry : query.values) {
            const SparseRow<T> column = columns_.row(entry.feature);
            for (std::size_t i = 0; i < column.values.size(); ++i)
                products[as_size(column.features[i])] += entry.value * static_cast<double>(column.values[i]);
        }
    }

    // Offers the samples within the policy's limit, by their exact distances.
    template <Policy P, class Distance>
    void scan(const Query& query, const std::vector<double>& products, P& policy, Distance distance) const {
        double known = -1, least = 0;  // limits seldom move
        for_each_block(policy, [&](Index b, double limit) {
            if (limit != known) least = least_value(query, limit);
            known = limit;
            const std::size_t first = at(b, lanes);
            bool any = false;
            for (std::size_t i = first; i < first + lanes; ++i) any |= may_matter(products, i, least);
            if (!any) return;
            for (Index sample = b * lanes; sample < std::min(n_samples(), (b + 1) * lanes); ++sample) {
                if (!may_matter(products, as_size(sample), least) || !policy.wants(sample)) continue;
                const double exact = distance(sample);
                if (exact <= limit) offer_at(policy, order(), sample, exact);
            }
        });
    }

    // NaN, where lengths overflow, passes.
    bool may_matter(const std::vector<double>& products, std::size_t i, double least) const {
        return !(products[i] * scale_[i] - shift_[i] < least);
    }

    // No sample within the limit has a smaller product * scale - shift.
    //
    // For "cosine" that is the cosine times the length of the query. For squares, |a - b|^2 is
    // |a|^2 + |b|^2 - 2ab, where all rounding, that of the exact sum included, is off by a part of
    // |a|^2 + |b|^2: n_features * epsilon times 2. Four times that is safe, and the smallest normal number
    // covers what underflows.
    double least_value(const Query& query, double limit) const {
        if (!(query.square + largest_square_ < largest / 16)) return -infinity;
        if (is_cosine()) {
            if (query.square == 0) return -infinity;
            return (1 - limit - 1e-12 * (2 + limit)) * std::sqrt(query.square);
        }
        const double room = metric_.reduced_limit(limit, metric_.p) + (n_features_ + 8.0) * smallest;
        return (query.square * (1 - allowance_) - room) / 2;
    }

    // The squared differences, in feature order. Which of the two comes next cannot be foreseen, so the loop
    // has no branches.
    static double sum_of_squares(const Query& query, const SparseRow<T>& row) {
        double sum = 0;
        std::size_t i = 0, j = 0;
        while (i < query.values.size() && j < row.features.size()) {
            const Entry entry = query.values[i];
            const bool has_query = entry.feature <= row.features[j],
                       has_row = row.features[j] <= entry.feature;
            const double difference =
                (has_query ? entry.value : 0.0) - (has_row ? static_cast<double>(row.values[j]) : 0.0);
            sum += difference * difference;
            i += has_query;
            j += has_row;
        }
        for (; i < query.values.size(); ++i) sum += query.values[i].value * query.values[i].value;
        for (; j < row.features.size(); ++j) {
            const auto value = static_cast<double>(row.values[j]);
            sum += value * value;
        }
        return sum;
    }

    Metric metric_;
    Index n_features_;
    double allowance_;
    SparseTable<T> rows_;
    SparseTable<T> columns_;
    // Per sample, padded to whole blocks.
    std::vector<double> squares_;  // squared lengths
    std::vector<double> scale_;
    std::vector<double> shift_;
    double largest_square_ = 0;
};

static_assert(KnowsSamples<SparseEngine<float>> && KnowsSamples<SparseEngine<double>>);

}  // namespace pathforest
