// The engine for many dimensions: every sample for every query, most of them discarded by the fast filter.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/engines/estimate.hpp"
#include "pathforest/engines/scout.hpp"

#include <array>
#include <bit>

namespace pathforest {

template <class T>
class BruteEngine : public FlatEngine {
  public:
    using Value = T;
    static constexpr int tile = 20 * filter_queries;  // queries that share one pass over the samples

    struct Query {
        std::vector<double> values;
        Index home = 0;  // the panel to start from
    };

    // Where the metric knows nearness by features, near samples are put together: a search that starts at
    // home then finds its nearest early. `keep_order` leaves them as given.
    BruteEngine(const T* X, Index n_samples, Index n_features, Metric metric, bool keep_order,
                Control& control)
        : FlatEngine(keep_order || !metric.in_tree ? given_order(n_samples)
                                                   : spatial_order(X, n_samples, n_features, control)),
          metric_(std::move(metric)), kernels_(find_kernels<T>(metric_.sum)),
          filters_(find_filters<T>(metric_.sum)), blocks_(X, n_samples, n_features, order(), panel_blocks),
          by_differences_(estimate_by_differences<T>(n_features)) {
        copy_rows(X);
        if (filters_.products != nullptr) measure_lengths();
    }

    Index n_features() const { return blocks_.n_features; }

    void ask_sample(Index sample, Query& query) const {
        const Index position = order().position[static_cast<std::size_t>(sample)];
        ask(row(position), query);
        query.home = position / panel;
    }

    void ask(const T* row, Query& query) const {
        query.values.assign(row, row + n_features());
        query.home = 0;
    }

    template <class Policy>
    void search(const Query* queries, Policy* policies, Index count, const Pause& pause) const {
        // The filter computes a whole group at once: not worth it for a lone query.
        if (filters_.differences != nullptr && count > 2) {
            search_filtered(queries, policies, count, pause);
            return;
        }
        for (Index i = 0; i < count; ++i) {
            ReducedLimit reduced(metric_);
            Breather breather(pause, at(lanes, n_features()));
            for_each_block(policies[i], [&](Index b, double limit) {
                breather();
                blocks_.scan(b, queries[i].values.data(), reduced(limit), kernels_, metric_, order(),
                             policies[i]);
            });
        }
    }

  private:
    // Pauses every few milliseconds of work, measured in feature differences, each of which may cost a power.
    class Breather {
      public:
        Breather(const Pause& pause, std::size_t step) : pause_(pause), step_(step) {}

        void operator()() {
            work_ += step_;
            if (work_ < std::size_t{1} << 18) return;
            pause_();
            work_ = 0;
        }

      private:
        const Pause& pause_;
        std::size_t step_;
        std::size_t work_ = 0;
    };

    // A few queries side by side, as the filter takes them.
    template <class Policy>
    struct Group {
        std::vector<T> values;  // feature by feature
        std::vector<Scout<Policy>> scouts;
        std::array<Estimate, filter_queries> by_products;  // infinitely coarse where there are none
        std::array<double, filter_queries> limits;         // in the panel at hand
    };

    // What the filter is given and gives back, for all groups of a tile.
    static constexpr int words = panel / 64;
    struct Work {
        std::vector<const T*> queries;
        std::array<T, tile> reach;
        std::array<T, tile * panel> values;
        std::array<std::uint64_t, tile * words> hits;
    };

    template <class Policy>
    void search_filtered(const Query* queries, Policy* policies, Index count, const Pause& pause) const {
        std::vector<Group<Policy>> groups;
        for (Index first = 0; first < count; first += filter_queries) {
            groups.push_back(make_group(queries + first, policies + first,
                                        std::min<Index>(filter_queries, count - first)));
        }
        Work work;
        std::vector<Group<Policy>*> fine;
        std::vector<Group<Policy>*> coarse;
        Breather breather(pause, at(count, n_features()) * panel);
        for (Index step = 0; step < n_panels(); ++step) {
            breather();
            const Index p = (queries[0].home + step) % n_panels();
            fine.clear();
            coarse.clear();
            for (Group<Policy>& group : groups) {
                if (!ask_limits(p, group)) continue;
                (is_coarse(group) ? coarse : fine).push_back(&group);
            }
            if (!fine.empty()) meet<true>(p, fine, work);
            if (!coarse.empty()) meet<false>(p, coarse, work);
        }
        std::vector<T> block(at(n_features(), lanes));
        for (Index i = 0; i < count; ++i) {
            settle(queries[i],
                   groups[static_cast<std::size_t>(i / filter_queries)]
                       .scouts[static_cast<std::size_t>(i % filter_queries)]
                       .candidates(),
                   block, policies[i]);
        }
    }

    // Offers the policy the samples at these positions by their exact distances, a block of them at a time.
    template <class Policy>
    void settle(const Query& query, const std::vector<Candidate>& candidates, std::vector<T>& block,
                Policy& policy) const {
        double reduced[lanes];
        for (std::size_t first = 0; first < candidates.size(); first += lanes) {
            const std::size_t count = std::min<std::size_t>(lanes, candidates.size() - first);
            const T* from[lanes];
            for (std::size_t lane = 0; lane < lanes; ++lane)
                from[lane] = row(candidates[first + std::min(lane, count - 1)].position);
            for (Index j = 0; j < n_features(); ++j) {
                for (std::size_t lane = 0; lane < lanes; ++lane) block[at(j, lanes) + lane] = from[lane][j];
            }
            kernels_.block(query.values.data(), block.data(), n_features(), metric_.p, reduced);
            for (std::size_t lane = 0; lane < count; ++lane) {
                policy.offer(sample_at(candidates[first + lane].position),
                             metric_.distance(reduced[lane], metric_.p));
            }
        }
    }

    template <class Policy>
    Group<Policy> make_group(const Query* queries, const Policy* policies, Index size) const {
        Group<Policy> group;
        group.values.resize(at(n_features(), filter_queries));
        for (Index q = 0; q < size; ++q) {
            const std::vector<double>& values = queries[q].values;
            for (Index j = 0; j < n_features(); ++j)
                group.values[at(j, filter_queries, q)] = static_cast<T>(values[static_cast<std::size_t>(j)]);
            group.scouts.emplace_back(policies[q], metric_);
            if (filters_.products == nullptr) continue;
            group.by_products[static_cast<std::size_t>(q)] =
                estimate_by_products<T>(n_features(), length_of(values.data()), largest_length_);
        }
        return group;
    }

    // False if nothing in the panel matters to any query.
    template <class Policy>
    bool ask_limits(Index p, Group<Policy>& group) const {
        bool any = false;
        for (std::size_t q = 0; q < group.scouts.size(); ++q) {
            group.limits[q] = group.scouts[q].reach(panel_node(p));
            any = any || group.limits[q] >= 0;
        }
        return any;
    }

    // Whether products are off by much of what they should tell apart: then differences are worth their time.
    template <class Policy>
    bool is_coarse(const Group<Policy>& group) const {
        for (std::size_t q = 0; q < group.scouts.size(); ++q) {
            if (group.limits[q] >= 0 && !(group.limits[q] > 16 * group.by_products[q].absolute)) return true;
        }
        return false;
    }

    // Shows the scouts what passes the filter.
    template <bool by_products, class Policy>
    void meet(Index p, const std::vector<Group<Policy>*>& groups, Work& work) const {
        const auto estimate = [&](const Group<Policy>& group, std::size_t q) -> const Estimate& {
            return by_products ? group.by_products[q] : by_differences_;
        };
        work.queries.clear();
        work.reach.fill(-std::numeric_limits<T>::infinity());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const Group<Policy>& group = *groups[g];
            work.queries.push_back(group.values.data());
            for (std::size_t q = 0; q < group.scouts.size(); ++q) {
                if (group.limits[q] >= 0)
                    work.reach[g * filter_queries + q] =
                        estimate(group, q).template reach<T>(group.limits[q]);
            }
        }
        (by_products ? filters_.products : filters_.differences)(
            work.queries.data(), static_cast<Index>(groups.size()), blocks_.block(p * panel_blocks),
            by_products ? half_squares_.data() + at(p, panel) : nullptr, n_features(), work.reach.data(),
            work.values.data(), work.hits.data());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            for (std::size_t q = 0; q < groups[g]->scouts.size(); ++q) {
                const std::size_t i = g * filter_queries + q;
                report(p, work.hits.data() + i * words, work.values.data() + i * panel, work.reach[i],
                       estimate(*groups[g], q), groups[g]->scouts[q]);
            }
        }
    }

    template <class Policy>
    void report(Index p, const std::uint64_t* hits, const T* values, T reach, const Estimate& estimate,
                Scout<Policy>& scout) const {
        for (int word = 0; word < words; ++word) {
            for (std::uint64_t bits = hits[word]; bits != 0; bits &= bits - 1) {
                const int lane = word * 64 + std::countr_zero(bits);
                const Index position = p * panel + lane;
                if (values[lane] > reach || position >= n_samples()) continue;
                scout.meet(sample_at(position), position, estimate.least(values[lane]),
                           estimate.most(values[lane]));
                reach = estimate.template reach<T>(scout.reach(panel_node(p)));
            }
        }
    }

    template <class V>
    double length_of(const V* values) const {
        double squares = 0;
        for (Index j = 0; j < n_features(); ++j) {
            const auto value = static_cast<double>(values[j]);
            squares += value * value;
        }
        return std::sqrt(squares);
    }

    void measure_lengths() {
        half_squares_.resize(at(n_panels(), panel));
        for (Index position = 0; position < n_samples(); ++position) {
            const double length = length_of(row(position));
            half_squares_[static_cast<std::size_t>(position)] = static_cast<T>(length * length / 2);
            largest_length_ = std::max(largest_length_, length);
        }
    }

    void copy_rows(const T* X) {
        rows_.reserve(at(n_samples(), n_features()));
        for (const Index sample : order().sample)
            rows_.insert(rows_.end(), X + at(sample, n_features()), X + at(sample + 1, n_features()));
    }

    const T* row(Index position) const { return rows_.data() + at(position, n_features()); }

    Metric metric_;
    Kernels<T> kernels_;
    Filters<T> filters_;
    Blocks<T> blocks_;
    std::vector<T> rows_;  // the same row by row, for samples picked one by one
    Estimate by_differences_;
    std::vector<T> half_squares_;  // per position, half the squared length
    double largest_length_ = 0;
};

}  // namespace pathforest
