#include "pathforest/class_costs.hpp"

#include "pathforest/smallest.hpp"

namespace pathforest {
namespace {

std::size_t size(Index i) { return static_cast<std::size_t>(i); }

constexpr Index rows_per_task = 8;

// Everything is within reach.
struct Everything {
    double* row;

    double limit(Index) const { return infinity; }
    void offer(Index sample, double distance) { row[sample] = distance; }
};

// The offers of one class to one query.
struct ClassOffers {
    explicit ClassOffers(std::size_t n_kept) : kept(n_kept) {}

    // An offer above this changes nothing.
    double limit = infinity;
    double cheapest = infinity;
    Index first = none;
    Smallest<double> kept;

    void offer(double value, Index rank) {
        if (value < cheapest || (value == cheapest && rank < first) || first == none) {
            cheapest = value;
            first = rank;
        }
        kept.offer(value);
        if (kept.full()) limit = kept.worst();
    }
};

}  // namespace

template <class T>
void all_distances(const AnyEngine& any, Rows<T> queries, std::span<double> distances, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        search_all(
            engine, queries.count, control, [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
            [&](Index i) { return Everything{distances.data() + at(i, engine.n_samples())}; },
            [](Index, Everything&) {});
    });
}

template void all_distances(const AnyEngine&, Rows<float>, std::span<double>, Control&);
template void all_distances(const AnyEngine&, Rows<double>, std::span<double>, Control&);

void class_costs(Rows<double> distances, const Rivals& rivals, std::span<const Index> n_conquerors,
                 std::span<double> costs, std::span<Index> first, Control& control) {
    const Index n = distances.width;
    const Index n_classes = rivals.n_classes;
    std::vector<Index> rank(size(n));
    for (Index place = 0; place < n; ++place) rank[size(rivals.order[size(place)])] = place;
    const auto most = size(*std::max_element(n_conquerors.begin(), n_conquerors.end()));

    const auto answer = [&](Index query, const Pause&) {
        std::vector<ClassOffers> classes(size(n_classes), ClassOffers(most));
        const double* row = distances.row(query);
        for (Index i = 0; i < n; ++i) {
            const double value = std::max(rivals.cost[size(i)], row[i]);
            ClassOffers& own = classes[size(rivals.code[size(i)])];
            if (value <= own.limit) own.offer(value, rank[size(i)]);
        }
        for (Index c = 0; c < n_classes; ++c) {
            ClassOffers& own = classes[size(c)];
            first[at(query, n_classes, c)] = own.first == none ? n : own.first;
            const std::vector<double>& ascending = own.kept.sorted();
            for (std::size_t r = 0; r < n_conquerors.size(); ++r) {
                const std::size_t count = std::min(size(n_conquerors[r]), ascending.size());
                double total = 0.0;
                for (std::size_t i = 0; i < count; ++i) total += ascending[i];
                costs[at(static_cast<Index>(r), distances.count, query) * size(n_classes) + size(c)] =
                    count == 0 ? infinity : total / static_cast<double>(count);
            }
        }
    };
    parallel_for((distances.count + rows_per_task - 1) / rows_per_task, control, [] { return 0; },
                 [&](Index task, int&, const Pause& pause) {
                     const Index end = std::min(distances.count, (task + 1) * rows_per_task);
                     for (Index query = task * rows_per_task; query < end; ++query) answer(query, pause);
                 });
}

}  // namespace pathforest
