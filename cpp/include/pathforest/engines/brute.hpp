// The engine for many dimensions: every block for every query, most of them discarded by the fast filter.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/engines/blocks.hpp"

#include <array>

namespace pathforest {

template <class T>
class BruteEngine : public FlatEngine {
  public:
    using Value = T;
    static constexpr int tile = 64;  // queries that share one pass over the blocks

    struct Query {
        std::vector<double> values;
        std::vector<T> narrow;
        Index home = 0;  // the block to start from
    };

    // Where the metric knows nearness by features, near samples are put together: a search that starts at
    // home then finds its nearest early. `keep_order` leaves them as given.
    BruteEngine(const T* X, Index n_samples, Index n_features, Metric metric, bool keep_order,
                Control& control)
        : FlatEngine(keep_order || !metric.in_tree ? given_order(n_samples)
                                                   : spatial_order(X, n_samples, n_features, control)),
          metric_(std::move(metric)), kernels_(find_kernels<T>(metric_.sum)),
          blocks_(X, n_samples, n_features, order()) {}

    Index n_features() const { return blocks_.n_features; }

    void ask_sample(Index sample, Query& query) const {
        const Index position = order().position[static_cast<std::size_t>(sample)];
        const T* block = blocks_.block(position / lanes) + position % lanes;
        query.home = position / lanes;
        query.narrow.resize(static_cast<std::size_t>(n_features()));
        for (Index j = 0; j < n_features(); ++j)
            query.narrow[static_cast<std::size_t>(j)] = block[at(j, lanes)];
        query.values.assign(query.narrow.begin(), query.narrow.end());
    }

    void ask(const T* row, Query& query) const {
        query.narrow.assign(row, row + n_features());
        query.values.assign(row, row + n_features());
        query.home = 0;
    }

    template <class Policy>
    void search(const Query* queries, Policy* policies, Index count, const Pause& pause) const {
        // The filter computes a whole group at once: not worth it for a lone query.
        const bool filtered = kernels_.filter != nullptr && count > 2;
        std::vector<Limits> limits(static_cast<std::size_t>(count), Limits(metric_));
        std::size_t work = 0;
        for (Index step = 0; step < blocks_.count(); ++step) {
            const Index b = (queries[0].home + step) % blocks_.count();
            for (Index first = 0; first < count; first += filter_group) {
                const Index size = std::min<Index>(filter_group, count - first);
                work += at(size, n_features()) * lanes;
                if (work > work_between_pauses) {
                    pause();
                    work = 0;
                }
                if (filtered) {
                    filter_then_scan(b, queries + first, policies + first, limits.data() + first, size);
                } else {
                    for (Index i = first; i < first + size; ++i) {
                        scan(b, queries[i], policies[i], limits[static_cast<std::size_t>(i)]);
                    }
                }
            }
        }
    }

  private:
    // Feature differences: milliseconds even where each of them costs a power.
    static constexpr std::size_t work_between_pauses = std::size_t{1} << 18;

    // What a query's limit means to the exact kernel and to the filter; the latter follows only when it
    // moves.
    struct Limits {
        explicit Limits(const Metric& metric) : reduced(metric) {}

        T of_filter(double limit, Index n_features) {
            const double exact = reduced(limit);
            if (exact != filtered_from) {
                filtered_from = exact;
                filtered = filter_limit<T>(exact, n_features);
            }
            return filtered;
        }

        ReducedLimit reduced;
        double filtered_from = infinity;
        T filtered = std::numeric_limits<T>::infinity();
    };

    template <class Policy>
    void scan(Index b, const Query& query, Policy& policy, Limits& limits) const {
        const double limit = policy.limit(b);
        if (limit < 0) return;
        blocks_.scan(b, query.values.data(), limits.reduced(limit), kernels_, metric_, order(), policy);
    }

    template <class Policy>
    void filter_then_scan(Index b, const Query* queries, Policy* policies, Limits* limits, Index size) const {
        std::array<const T*, filter_group> rows;
        std::array<T, filter_group> reach;
        bool any = false;
        for (Index i = 0; i < filter_group; ++i) {
            const auto slot = static_cast<std::size_t>(i);
            const double limit = i < size ? policies[i].limit(b) : -1;
            rows[slot] = queries[std::min(i, size - 1)].narrow.data();
            reach[slot] = limit < 0 ? T{-1} : limits[i].of_filter(limit, n_features());
            any = any || limit >= 0;
        }
        if (!any) return;
        std::array<T, filter_group> nearest;
        kernels_.filter(rows.data(), blocks_.block(b), n_features(), nearest.data());
        for (Index i = 0; i < size; ++i) {
            const auto slot = static_cast<std::size_t>(i);
            if (nearest[slot] <= reach[slot]) scan(b, queries[i], policies[i], limits[i]);
        }
    }

    Metric metric_;
    Kernels<T> kernels_;
    Blocks<T> blocks_;
};

}  // namespace pathforest
