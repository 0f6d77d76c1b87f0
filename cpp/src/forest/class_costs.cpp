#include "pathforest/forest/class_costs.hpp"

#include "pathforest/parallel.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <vector>

namespace pathforest {
namespace {

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
template void all_distances(const AnyEngine&, Rows<SparseRow<float>>, std::span<double>, Control&);
template void all_distances(const AnyEngine&, Rows<SparseRow<double>>, std::span<double>, Control&);

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
    const Order order({rivals.order.begin(), rivals.order.end()});
    for (Index c = 0; c < rivals.n_classes; ++c) {
        std::vector<Index> samples, ranks;
        std::vector<double> cost;
        for (Index i = 0; i < distances.width; ++i) {
            if (rivals.code[as_size(i)] != c) continue;
            samples.push_back(i);
            ranks.push_back(order.position[as_size(i)]);
            cost.push_back(rivals.cost[as_size(i)]);
        }
        const auto n_members = static_cast<Index>(samples.size());
        std::vector<double> ascending;
        std::vector<Index> members;
        std::vector<Neighbour> row(samples.size());
        for (Index query = 0; query < distances.count; ++query) {
            for (Index m = 0; m < n_members; ++m)
                row[as_size(m)] = {distances.row(query)[samples[as_size(m)]], m};
            std::sort(row.begin(), row.end());
            for (const Neighbour& neighbour : row) {
                ascending.push_back(neighbour.distance);
                members.push_back(neighbour.sample);
            }
        }
        std::vector<double> own_costs(n_conquerors.size() * as_size(distances.count));
        std::vector<Index> own_first(as_size(distances.count));
        class_costs({{ascending.data(), distances.count, n_members},
                     {members.data(), distances.count, n_members},
                     true},
                    {cost, ranks}, {{nullptr, distances.count, 0}, {}}, n_conquerors, distances.width,
                    own_costs, own_first, control);
        const auto n_classes = as_size(rivals.n_classes);
        for (std::size_t i = 0; i < own_costs.size(); ++i) costs[i * n_classes + as_size(c)] = own_costs[i];
        for (std::size_t i = 0; i < own_first.size(); ++i) first[i * n_classes + as_size(c)] = own_first[i];
    }
}

}  // namespace pathforest
