#include "pathforest/forest/class_costs.hpp"

#include "pathforest/smallest.hpp"

namespace pathforest {
namespace {

constexpr Index rows_per_task = 8;

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
struct ClassOffers {
    Smallest<double> kept;
    double cheapest = infinity;
    Index first = none;

    ClassOffers(const std::vector<Member>& members, const double* row, std::size_t n_kept)
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

}  // namespace

template <class T>
void all_distances(const AnyEngine& any, Rows<T> queries, std::span<double> distances, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        search_all(
            engine, queries.count, control, [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
            [&](Index i) { return Everything(distances.data() + at(i, engine.n_samples())); },
            [](Index, Everything&) {});
    });
}

template void all_distances(const AnyEngine&, Rows<float>, std::span<double>, Control&);
template void all_distances(const AnyEngine&, Rows<double>, std::span<double>, Control&);

double mean_offer(std::span<const double> ascending) {
    if (ascending.empty()) return infinity;
    double total = 0.0;
    for (const double offer : ascending) total += offer;
    return total / static_cast<double>(ascending.size());
}

void class_costs(Rows<double> distances, const Rivals& rivals, std::span<const Index> n_conquerors,
                 std::span<double> costs, std::span<Index> first, Control& control) {
    const std::vector<std::vector<Member>> classes = members_of_classes(rivals);
    const auto most = as_size(*std::max_element(n_conquerors.begin(), n_conquerors.end()));

    const auto answer = [&](Index query) {
        for (Index c = 0; c < rivals.n_classes; ++c) {
            ClassOffers offers(classes[as_size(c)], distances.row(query), most);
            first[at(query, rivals.n_classes, c)] = offers.first == none ? distances.width : offers.first;
            const std::vector<double>& ascending = offers.kept.sorted();
            for (std::size_t r = 0; r < n_conquerors.size(); ++r) {
                const std::size_t count = std::min(as_size(n_conquerors[r]), ascending.size());
                const std::size_t row = at(static_cast<Index>(r), distances.count, query);
                costs[row * as_size(rivals.n_classes) + as_size(c)] =
                    mean_offer(std::span(ascending).first(count));
            }
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
