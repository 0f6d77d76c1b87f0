// A tile of queries that go through the samples together, panel by panel.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/distances/engines/panels.hpp"
#include "pathforest/distances/engines/scout.hpp"
#include "pathforest/distances/engines/settler.hpp"

#include <array>
#include <bit>
#include <memory>

namespace pathforest {

template <class Engine, Policy P>
class Tile {
  public:
    using T = typename Engine::Value;
    using Query = typename Engine::Query;

    Tile(const Engine& engine, const Query* queries, P* policies, Index count)
        : engine_(engine), panels_(engine.panels()), settle_(engine) {
        seekers_.reserve(as_size(count));
        for (Index i = 0; i < count; ++i) {
            seekers_.push_back({&queries[i].values, &policies[i], Scout(policies[i], engine.metric()),
                                panels_.by_products(queries[i].values)});
        }
        reach_.resize(seekers_.size() + filter_queries);
        hits_.resize(reach_.size() * words);
        values_.reset(new T[reach_.size() * panel]);  // left undefined
        form_groups();
    }

    // Shows the scouts what may matter of a panel.
    void meet(Index p) {
        if (ask_limits(p) == 0) return;
        for (const bool by_differences : {false, true}) {
            asked_.clear();
            packs_.clear();
            for (Group& group : groups_) {
                if (!group.active || group.by_differences != by_differences) continue;
                std::copy_n(group.reach.begin(), filter_queries,
                            reach_.begin() + static_cast<std::ptrdiff_t>(asked_.size() * filter_queries));
                asked_.push_back(&group);
                packs_.push_back(group.values.data());
            }
            if (asked_.empty()) continue;
            panels_.filter(by_differences, p, packs_, reach_.data(), nullptr, values_.get(), hits_.data());
            for (std::size_t g = 0; g < asked_.size(); ++g) report(p, *asked_[g], g * filter_queries);
        }
    }

    // Offers the policies themselves what their scouts have left.
    void settle(const Pause& pause) {
        for (Seeker& seeker : seekers_) {
            pause();
            settle_(seeker.scout, seeker.query->data(), *seeker.policy);
        }
    }

  private:
    static constexpr int words = panel / 64;

    struct Seeker {
        const std::vector<double>* query;
        P* policy;
        Scout<P> scout;
        Estimate by_products;
        double limit = -1;  // the largest reduced distance that matters in the panel at hand
    };

    // A few seekers side by side, as the filter takes them.
    struct Group {
        std::span<Seeker> seekers;
        std::vector<T> values;  // feature by feature
        std::array<T, filter_queries> reach;
        bool active = false;          // something in the panel at hand matters to one of them
        bool by_differences = false;  // products are off by much of what they should tell apart
    };

    void form_groups() {
        groups_.resize((seekers_.size() + filter_queries - 1) / filter_queries);
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            Group& group = groups_[g];
            const std::size_t first = g * filter_queries;
            group.seekers = std::span(seekers_).subspan(
                first, std::min<std::size_t>(filter_queries, seekers_.size() - first));
            group.values.resize(at(engine_.n_features(), filter_queries));
            for (std::size_t q = 0; q < group.seekers.size(); ++q) {
                const std::vector<double>& query = *group.seekers[q].query;
                for (std::size_t j = 0; j < query.size(); ++j)
                    group.values[j * filter_queries + q] = static_cast<T>(query[j]);
            }
            set_reach(group);
        }
    }

    // The number of seekers to whom the panel matters. Once they are so scattered that fewer groups would do,
    // they are put together.
    std::size_t ask_limits(Index p) {
        std::size_t n_active = 0;
        std::size_t n_groups = 0;
        for (Group& group : groups_) {
            const std::size_t before = n_active;
            bool changed = false;
            for (Seeker& seeker : group.seekers) {
                const double limit = seeker.scout.reach(engine_.panel_node(p));
                n_active += limit >= 0;
                changed = changed || limit != seeker.limit;
                seeker.limit = limit;
            }
            group.active = n_active > before;
            n_groups += group.active;
            if (group.active && changed) set_reach(group);
        }
        if (4 * (n_active + filter_queries) < 3 * n_groups * filter_queries) {
            std::stable_partition(seekers_.begin(), seekers_.end(),
                                  [](const Seeker& seeker) { return seeker.limit >= 0; });
            form_groups();
        }
        return n_active;
    }

    void set_reach(Group& group) const {
        group.active = false;
        group.by_differences = false;
        for (const Seeker& seeker : group.seekers) {
            if (seeker.limit < 0) continue;
            group.active = true;
            group.by_differences = group.by_differences || !(seeker.limit > 16 * seeker.by_products.absolute);
        }
        group.reach.fill(-std::numeric_limits<T>::infinity());
        for (std::size_t q = 0; q < group.seekers.size(); ++q) {
            const Seeker& seeker = group.seekers[q];
            if (seeker.limit >= 0) group.reach[q] = estimate(group, seeker).template reach<T>(seeker.limit);
        }
    }

    const Estimate& estimate(const Group& group, const Seeker& seeker) const {
        return group.by_differences ? panels_.by_differences() : seeker.by_products;
    }

    // `first` is where the group's values and hits begin.
    void report(Index p, Group& group, std::size_t first) {
        for (std::size_t q = 0; q < group.seekers.size(); ++q) {
            if (group.seekers[q].limit < 0) continue;
            const T* values = values_.get() + (first + q) * panel;
            T reach = group.reach[q];
            for (std::size_t word = 0; word < words; ++word) {
                for (std::uint64_t bits = hits_[(first + q) * words + word]; bits != 0; bits &= bits - 1) {
                    const auto lane = static_cast<Index>(word * 64) + std::countr_zero(bits);
                    // Without a limit yet, a whole panel of hits may pass here.
                    if (values[lane] <= reach)
                        reach = meet_sample(p, lane, values[lane], reach, group, group.seekers[q]);
                }
            }
        }
    }

    // Returns the seeker's new reach. Apart from the loop above, which is many times as frequent.
    [[gnu::noinline]] T meet_sample(Index p, Index lane, T value, T reach, const Group& group,
                                    Seeker& seeker) {
        const Index position = p * panel + lane;
        if (position >= engine_.n_samples()) return reach;
        const Estimate& bounds = estimate(group, seeker);
        seeker.scout.meet(engine_.sample_at(position), position, bounds.least(value), bounds.most(value));
        if (seeker.scout.is_full()) {
            settle_(seeker.scout, seeker.query->data(), *seeker.policy);
            seeker.scout.restart(*seeker.policy);
        }
        return bounds.template reach<T>(seeker.scout.reach(engine_.panel_node(p)));
    }

    const Engine& engine_;
    const Panels<T>& panels_;
    std::vector<Seeker> seekers_;
    std::vector<Group> groups_;
    Settler<Engine> settle_;

    // What the filter is given and gives back.
    std::vector<Group*> asked_;
    std::vector<const T*> packs_;
    std::vector<T> reach_;
    std::vector<std::uint64_t> hits_;
    std::unique_ptr<T[]> values_;
};

}  // namespace pathforest
