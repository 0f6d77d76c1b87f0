#include "pathforest/predict.hpp"

#include "pathforest/smallest.hpp"

namespace pathforest {
namespace {

struct Offer {
    double value;
    Index rank;  // the sample's position in `order`

    friend auto operator<=>(const Offer&, const Offer&) = default;
};

// What all queries read.
struct Costs {
    std::span<const double> cost;
    std::vector<Index> rank;
    std::vector<double> least;  // per node, the smallest cost below it
    std::size_t n_conquerors;
};

// A node whose cheapest sample costs more than the worst offer kept cannot help, however near it is.
class Conquest {
  public:
    explicit Conquest(const Costs& costs) : costs_(&costs), kept_(costs.n_conquerors) {}

    double limit(Index node) const {
        if (!kept_.full()) return infinity;
        const double worst = kept_.worst().value;
        return costs_->least[static_cast<std::size_t>(node)] > worst ? -1.0 : worst;
    }

    void offer(Index sample, double distance) {
        const auto s = static_cast<std::size_t>(sample);
        kept_.offer({std::max(costs_->cost[s], distance), costs_->rank[s]});
    }

    void write(std::span<const Index> order, double* offers, Index* conquerors) {
        for (const Offer& offer : kept_.sorted()) {
            *offers++ = offer.value;
            *conquerors++ = order[static_cast<std::size_t>(offer.rank)];
        }
    }

  private:
    const Costs* costs_;
    Smallest<Offer> kept_;
};

}  // namespace

template <class T>
void conquer(const AnyEngine& any, Rows<T> queries, std::span<const double> cost, std::span<const Index> order,
             Index n_conquerors, std::span<double> offers, std::span<Index> conquerors, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        Costs costs{cost, std::vector<Index>(order.size()), {}, static_cast<std::size_t>(n_conquerors)};
        for (std::size_t rank = 0; rank < order.size(); ++rank) {
            costs.rank[static_cast<std::size_t>(order[rank])] = static_cast<Index>(rank);
        }
        costs.least = engine.summarise(std::vector<double>(cost.begin(), cost.end()),
                                       [](double a, double b) { return std::min(a, b); });
        search_all(
            engine, queries.count, control, [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
            [&](Index) { return Conquest(costs); },
            [&](Index i, Conquest& conquest) {
                conquest.write(order, offers.data() + at(i, n_conquerors), conquerors.data() + at(i, n_conquerors));
            });
    });
}

template void conquer(const AnyEngine&, Rows<float>, std::span<const double>, std::span<const Index>, Index,
                      std::span<double>, std::span<Index>, Control&);
template void conquer(const AnyEngine&, Rows<double>, std::span<const double>, std::span<const Index>, Index,
                      std::span<double>, std::span<Index>, Control&);

}  // namespace pathforest
