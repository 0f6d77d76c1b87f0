// The engine for sparse samples. Terms of 0 change no sum, so the distance of two rows is a sum over the
// features that one of them has, in feature order: bit by bit that of the same rows with their zeros.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/distances/engines/blocks.hpp"
#include "pathforest/distances/engines/scout.hpp"
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
        columns_ = columns_of(rows_);
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
            const bool can_estimate = queries[i].square + largest_square_ < largest / 16;
            if (!is_cosine() && (P::sees_everything || !can_estimate)) {
                scan_squares(queries[i], policies[i]);
                continue;
            }
            multiply(queries[i], products);
            if (is_cosine()) {
                scan_cosines(queries[i], products, policies[i]);
            } else {
                scan_estimates(queries[i], products, policies[i]);
            }
        }
    }

  private:
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
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
            const SparseRow<T> column = columns_.of(entry.feature);
            for (std::size_t i = 0; i < column.values.size(); ++i)
                products[as_size(column.features[i])] += entry.value * static_cast<double>(column.values[i]);
        }
    }

    // A product tells the distance, but for the end of the formula, which most samples are spared: a sample
    // within the limit has a cosine of 1 - limit or more, up to rounding. That is little unless the product
    // of two lengths is subnormal, which takes a query this short. And below 1, the distance of all samples
    // that share no feature with the query, a cosine is above 2^-54.
    template <Policy P>
    void scan_cosines(const Query& query, const std::vector<double>& products, P& policy) const {
        const double length = std::sqrt(query.square);
        for_each_block(policy, [&](Index b, double limit) {
            double least = -infinity;
            if (length > 1e-140)
                least = std::max(1 - limit - 1e-12 * (2 + limit), limit < 1 ? 5e-17 : -infinity) * length;
            for_each_above(b, products, least, [&](Index sample) {
                const double distance =
                    cosine_distance(products[as_size(sample)], query.square, squares_[as_size(sample)]);
                if (distance <= limit) offer_at(policy, order(), sample, distance);
            });
        });
    }

    // Every distance, in full.
    template <Policy P>
    void scan_squares(const Query& query, P& policy) const {
        for_each_block(policy, [&](Index b, double limit) {
            for (Index sample = b * lanes; sample < std::min(n_samples(), (b + 1) * lanes); ++sample) {
                const double exact = distance(query, sample);
                if (exact <= limit) offer_at(policy, order(), sample, exact);
            }
        });
    }

    // |a - b|^2 = |a|^2 + |b|^2 - 2ab, where all rounding, that of the exact sum included, is off by a part
    // of |a|^2 + |b|^2: n_features * epsilon times 2. Four times that is safe, and the smallest normal number
    // covers what underflows. A scout sees these estimates, so that few exact sums are needed.
    template <Policy P>
    void scan_estimates(const Query& query, const std::vector<double>& products, P& policy) const {
        Scout<P> scout(policy, metric_);
        const double tiny = (n_features_ + 8.0) * std::numeric_limits<double>::min();
        const auto reach = [&](Index node) { return scout.reach(node); };
        for_each_block_within(reach, [&](Index b, double reduced_limit) {
            const double least = (query.square * (1 - allowance_) - reduced_limit - tiny) / 2;
            for_each_above(b, products, least, [&](Index sample) {
                const double squares = query.square + squares_[as_size(sample)];
                const double estimate = squares - 2 * products[as_size(sample)];
                const double room = allowance_ * squares + tiny;
                scout.meet(sample, sample, estimate - room, std::max(0.0, estimate + room));
                if (!scout.is_full()) return;
                settle(scout, query, policy);
                scout.restart(policy);
            });
        });
        settle(scout, query, policy);
    }

    // Offers the policy what its scout has left.
    template <Policy P>
    void settle(Scout<P>& scout, const Query& query, P& policy) const {
        ReducedLimit reduced_limit(metric_);
        for (const Candidate& candidate : scout.candidates()) {
            const double limit = policy.limit(candidate.position / lanes);  // by now some may be out
            if (limit >= 0 && candidate.least <= reduced_limit(limit))
                offer_at(policy, order(), candidate.position, distance(query, candidate.position));
        }
    }

    // Calls visit(sample) for the samples of a block whose product * scale - shift is not below `least`.
    template <class Visit>
    void for_each_above(Index b, const std::vector<double>& products, double least, Visit visit) const {
        const auto is_above = [&](std::size_t i) { return products[i] * scale_[i] - shift_[i] >= least; };
        const std::size_t first = at(b, lanes);
        bool any = false;
        for (std::size_t i = first; i < first + lanes; ++i) any |= is_above(i);
        if (!any) return;
        for (Index sample = b * lanes; sample < std::min(n_samples(), (b + 1) * lanes); ++sample) {
            if (is_above(as_size(sample))) visit(sample);
        }
    }

    // Of squares.
    double distance(const Query& query, Index sample) const {
        return metric_.distance(sum_of_squares(query, rows_.row(sample)), metric_.p);
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
    SparseColumns<T> columns_;
    // Per sample, padded to whole blocks.
    std::vector<double> squares_;  // squared lengths
    std::vector<double> scale_;
    std::vector<double> shift_;
    double largest_square_ = 0;
};

static_assert(KnowsSamples<SparseEngine<float>> && KnowsSamples<SparseEngine<double>>);

}  // namespace pathforest
