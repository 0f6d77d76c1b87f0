#include "pathforest/forest/predict.hpp"

#include "pathforest/smallest.hpp"
#include "pathforest/ties.hpp"

namespace pathforest {
namespace {

struct Offer {
    double value;
    Index rank;  // the sample's position in `order`

    friend bool operator<(const Offer& a, const Offer& b) {
        return a.value < b.value || (a.value == b.value && a.rank < b.rank);
    }
};

// What all queries read. Ranks follow costs, so the first rank below a node also names its cheapest sample.
struct Costs {
    std::vector<double> by_rank;
    std::vector<Index> rank;
    std::vector<Index> first_rank;  // per node of the engine
    std::size_t n_conquerors;
};

class CheapestOffers : public PolicyDefaults {
  public:
    static constexpr bool nearest_first = false;

    explicit CheapestOffers(const Costs& costs) : costs_(&costs), kept_(costs.n_conquerors) {}

    double limit(Index node) const {
        if (!kept_.full()) return infinity;
        // No offer from below the node is smaller than this pair, however near its samples are.
        const Index first = costs_->first_rank[as_size(node)];
        const auto [value, rank] = kept_.worst();
        if (kept_.worst() < Offer{cost(first), first}) return -1.0;
        return first > rank ? strictly_below(value) : value;  // all ranks below the node lose a tie
    }

    Index n_wanted() const { return static_cast<Index>(costs_->n_conquerors); }

    double promise(Index node, double least_distance) const {
        return std::max(cost(costs_->first_rank[as_size(node)]), least_distance);
    }

    void offer(Index sample, double distance) {
        const Index rank = costs_->rank[as_size(sample)];
        kept_.offer({std::max(cost(rank), distance), rank});
    }

    void write(std::span<const Index> order, double* offers, Index* conquerors) {
        for (const Offer& offer : kept_.sorted()) {
            *offers++ = offer.value;
            *conquerors++ = order[as_size(offer.rank)];
        }
    }

  private:
    double cost(Index rank) const { return costs_->by_rank[as_size(rank)]; }

    const Costs* costs_;
    Smallest<Offer> kept_;
};
static_assert(Policy<CheapestOffers>);

}  // namespace

template <class T>
void conquer(const AnyEngine& any, Rows<T> queries, std::span<const double> cost,
             std::span<const Index> order, Index n_conquerors, std::span<double> offers,
             std::span<Index> conquerors, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        Costs costs{
            std::vector<double>(order.size()), std::vector<Index>(order.size()), {}, as_size(n_conquerors)};
        for (std::size_t rank = 0; rank < order.size(); ++rank) {
            costs.by_rank[rank] = cost[as_size(order[rank])];
            costs.rank[as_size(order[rank])] = static_cast<Index>(rank);
        }
        costs.first_rank = engine.summarise(costs.rank, [](Index a, Index b) { return std::min(a, b); });
        search_rows(
            engine, queries, control, [&](Index) { return CheapestOffers(costs); },
            [&](Index i, CheapestOffers& cheapest) {
                cheapest.write(order, offers.data() + at(i, n_conquerors),
                               conquerors.data() + at(i, n_conquerors));
            });
    });
}

template void conquer(const AnyEngine&, Rows<float>, std::span<const double>, std::span<const Index>, Index,
                      std::span<double>, std::span<Index>, Control&);
template void conquer(const AnyEngine&, Rows<double>, std::span<const double>, std::span<const Index>, Index,
                      std::span<double>, std::span<Index>, Control&);
template void conquer(const AnyEngine&, Rows<SparseRow<float>>, std::span<const double>,
                      std::span<const Index>, Index, std::span<double>, std::span<Index>, Control&);
template void conquer(const AnyEngine&, Rows<SparseRow<double>>, std::span<const double>,
                      std::span<const Index>, Index, std::span<double>, std::span<Index>, Control&);

}  // namespace pathforest
