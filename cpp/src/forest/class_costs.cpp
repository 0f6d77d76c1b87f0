#include "pathforest/forest/class_costs.hpp"

#include "pathforest/parallel.hpp"
#include "pathforest/smallest.hpp"

#include <algorithm>
#include <vector>

namespace pathforest {
namespace {

constexpr Index rows_per_task = 8;
constexpr Index queries_per_task = 1024;  // a few tenths of a millisecond: fewer are not worth a thread

// Everything is within reach.
struct Everything : PolicyDefaults {
    static constexpr bool sees_everything = true;
    double* row;

    explicit Everything(double* row) : row(row) {}

    double limit(Index) const { return infinity; }
    void offer(Index sample, double distance) { row[sample] = distance; }
};
static_assert(Policy<Everything>);

// A sample as its class sees it.
struct Member {
    double cost;
    Index sample;
    Index rank;  // its place in the forest's order
};

// The samples of every class by ascending rank, hence by ascending cost.
std::vector<std::vector<Member>> members_of_classes(const Rivals& rivals) {
    std::vector<std::vector<Member>> classes(as_size(rivals.n_classes));
    for (std::size_t rank = 0; rank < rivals.order.size(); ++rank) {
        const Index sample = rivals.order[rank];
        const double cost = rivals.cost[as_size(sample)];
        classes[as_size(rivals.code[as_size(sample)])].push_back({cost, sample, static_cast<Index>(rank)});
    }
    return classes;
}

// The cheapest offers of a class to one query. Members come by ascending rank, so of equal offers the first
// one seen stays the first, and none after a cost above the limit can matter.
struct OffersOfAll {
    Smallest<double> kept;
    double cheapest = infinity;
    Index first = none;

    OffersOfAll(const std::vector<Member>& members, const double* row, std::size_t n_kept)
        : kept(std::clamp<std::size_t>(n_kept, 1, members.size() + 1)) {
        double limit = infinity;
        for (const Member& member : members) {
            if (member.cost > limit) break;
            if (row[member.sample] > limit) continue;
            const double value = std::max(member.cost, row[member.sample]);
            if (value < cheapest || first == none) {
                cheapest = value;
                first = member.rank;
            }
            kept.offer(value);
            if (kept.full()) limit = kept.worst();
        }
    }
};

// The offers of a class to one query as far as they are known, with memory kept from one query to the next.
class ClassOffers {
  public:
    ClassOffers(const NearestMembers& nearest, const MemberCosts& forest, const FurtherOffers& further)
        : nearest_(nearest), forest_(forest), further_(further) {}

    // All that are known, ascending.
    const std::vector<double>& collect(Index query) {
        const double* further = further_.offers.row(query);
        ascending_.assign(further, further + further_.offers.width);
        for (Index i = 0; i < nearest_.distances.width; ++i) ascending_.push_back(offer(query, i));
        if (ascending_.size() > few) {
            std::sort(ascending_.begin(), ascending_.end());
        } else {
            insert_each();
        }
        return ascending_;
    }

    // Members that are not listed offer at least the last distance: as much as the largest offer that counts,
    // and more than the smallest, whose rank they could take.
    bool is_settled(Index query, std::size_t n_kept) const {
        if (nearest_.all) return true;
        const double last = nearest_.distances.row(query)[nearest_.distances.width - 1];
        return ascending_.size() >= n_kept && ascending_[n_kept - 1] <= last && ascending_[0] < last;
    }

    // The first rank among those that make the smallest offer.
    Index first(Index query, Index n_samples) const {
        if (ascending_.empty() || ascending_[0] == infinity) return n_samples;
        const double cheapest = ascending_[0];
        Index rank = n_samples;
        if (further_.offers.width > 0 && further_.offers.row(query)[0] == cheapest)
            rank = further_.first[as_size(query)];
        for (Index i = 0; i < nearest_.distances.width && nearest_.distances.row(query)[i] <= cheapest; ++i) {
            if (offer(query, i) == cheapest)
                rank = std::min(rank, forest_.rank[as_size(nearest_.members.row(query)[i])]);
        }
        return rank;
    }

  private:
    static constexpr std::size_t few = 64;

    // Lists ascend and most members cost less than their distance, so there is little to move.
    void insert_each() {
        for (std::size_t i = 1; i < ascending_.size(); ++i) {
            const double value = ascending_[i];
            std::size_t place = i;
            for (; place > 0 && ascending_[place - 1] > value; --place)
                ascending_[place] = ascending_[place - 1];
            ascending_[place] = value;
        }
    }

    double offer(Index query, Index i) const {
        const Index member = nearest_.members.row(query)[i];
        return std::max(forest_.cost[as_size(member)], nearest_.distances.row(query)[i]);
    }

    NearestMembers nearest_;
    MemberCosts forest_;
    FurtherOffers further_;
    std::vector<double> ascending_;
};

}  // namespace

template <class T>
void all_distances(const AnyEngine& any, Rows<T> queries, std::span<double> distances, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        search_all(
            engine, engine.tile, queries.count, control,
            [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
            [&](Index i) { return Everything(distances.data() + at(i, engine.n_samples())); },
            [](Index, Everything&) {});
    });
}

template void all_distances(const AnyEngine&, Rows<float>, std::span<double>, Control&);
template void all_distances(const AnyEngine&, Rows<double>, std::span<double>, Control&);

void class_costs(const NearestMembers& nearest, const MemberCosts& forest, const FurtherOffers& further,
                 std::span<const Index> n_conquerors, Index n_samples, std::span<double> costs,
                 std::span<Index> first, Control& control) {
    const Index n_queries = nearest.distances.count;
    const auto most = as_size(*std::max_element(n_conquerors.begin(), n_conquerors.end()));
    parallel_for((n_queries + queries_per_task - 1) / queries_per_task, control,
                 [&] { return ClassOffers(nearest, forest, further); },
                 [&](Index task, ClassOffers& offers, const Pause& pause) {
                     const Index end = std::min(n_queries, (task + 1) * queries_per_task);
                     for (Index query = task * queries_per_task; query < end; ++query) {
                         pause();
                         mean_offers(offers.collect(query), n_conquerors, [&](std::size_t i, double mean) {
                             costs[i * as_size(n_queries) + as_size(query)] = mean;
                         });
                         first[as_size(query)] =
                             offers.is_settled(query, most) ? offers.first(query, n_samples) : none;
                     }
                 });
}

void class_costs(Rows<double> distances, const Rivals& rivals, std::span<const Index> n_conquerors,
                 std::span<double> costs, std::span<Index> first, Control& control) {
    const std::vector<std::vector<Member>> classes = members_of_classes(rivals);
    const auto most = as_size(*std::max_element(n_conquerors.begin(), n_conquerors.end()));

    const auto answer = [&](Index query) {
        for (Index c = 0; c < rivals.n_classes; ++c) {
            OffersOfAll offers(classes[as_size(c)], distances.row(query), most);
            first[at(query, rivals.n_classes, c)] = offers.first == none ? distances.width : offers.first;
            const std::span<const double> ascending = offers.kept.sorted();
            mean_offers(ascending, n_conquerors, [&](std::size_t r, double mean) {
                const std::size_t row = at(static_cast<Index>(r), distances.count, query);
                costs[row * as_size(rivals.n_classes) + as_size(c)] = mean;
            });
        }
    };
    parallel_for((distances.count + rows_per_task - 1) / rows_per_task, control, [] { return 0; },
                 [&](Index task, int&, const Pause& pause) {
                     const Index end = std::min(distances.count, (task + 1) * rows_per_task);
                     for (Index query = task * rows_per_task; query < end; ++query) {
                         answer(query);
                         pause();
                     }
                 });
}

}  // namespace pathforest
