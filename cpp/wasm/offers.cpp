#include "offers.hpp"

#include "pathforest/forest/class_costs.hpp"
#include "pathforest/forest/predict.hpp"
#include "pathforest/graph/knn.hpp"
#include "pathforest/membership/density.hpp"

#include <array>
#include <numeric>

namespace pathforest::wasm {
namespace {

void write_mean(std::span<const double> ascending, Index n_conquerors, double& cost) {
    mean_offers(ascending, {&n_conquerors, 1}, [&](std::size_t, double mean) { cost = mean; });
}

// Each class answers from an engine of its own samples.
void gather_members(Model& model) {
    const auto& cost = model.values("cost");
    const auto& label = model.numbers("label");
    model.members = std::vector<Members>(as_size(model.n_classes));
    for (const Index i : model.numbers("order")) {
        Members& own = model.members[as_size(label[as_size(i)])];
        const auto row = model.X.begin() + static_cast<std::ptrdiff_t>(at(i, model.n_features));
        own.samples.push_back(i);
        own.X.insert(own.X.end(), row, row + model.n_features);
        own.cost.push_back(cost[as_size(i)]);
    }
    for (Members& own : model.members) {
        if (!own.samples.empty()) own.engine = make_engine(own.X, model.n_features, model.metric);
    }
}

// max{cost, distance} of all samples.
void offer_all(Model& model, Rows<double> queries, Index n_conquerors, Offers& offers) {
    Control control;
    if (model.members.empty()) gather_members(model);
    for (Index c = 0; c < model.n_classes; ++c) {
        const Members& own = model.members[as_size(c)];
        if (own.samples.empty()) continue;
        const Index r = std::min(n_conquerors, static_cast<Index>(own.samples.size()));
        std::vector<double> cheapest(at(queries.count, r));
        std::vector<Index> ranks(cheapest.size()), order(own.samples.size());
        std::iota(order.begin(), order.end(), 0);
        conquer(*own.engine, queries, own.cost, order, r, cheapest, ranks, control);
        for (Index i = 0; i < queries.count; ++i) {
            const std::size_t place = at(i, model.n_classes, c);
            write_mean(std::span(cheapest).subspan(at(i, r), as_size(r)), r, offers.cost[place]);
            offers.conqueror[place] = own.samples[as_size(ranks[at(i, r)])];
        }
    }
}

// cost + factor * distance of the nearest samples.
void offer_along_lists(const Model& model, Rows<double> queries, Index n_conquerors, Offers& offers) {
    Control control;
    const Index k = model.n_offers;
    const auto& cost = model.values("cost");
    const auto& factors = model.values("class_factors");
    const auto& label = model.numbers("label");
    const Order order(model.numbers("order"));
    std::vector<double> distances(at(queries.count, k));
    std::vector<Index> indices(distances.size());
    query_knn(*model.engine, queries, k, {}, distances, indices, control);
    struct Offer {
        double value;
        Index rank;
        auto operator<=>(const Offer&) const = default;
    };
    std::vector<Offer> made;
    std::vector<double> ascending;
    for (Index i = 0; i < queries.count; ++i) {
        for (Index c = 0; c < model.n_classes; ++c) {
            made.clear();
            ascending.clear();
            for (std::size_t place = at(i, k); place < at(i + 1, k); ++place) {
                const std::size_t q = as_size(indices[place]);
                if (label[q] == c)
                    made.push_back({cost[q] + factors[as_size(c)] * distances[place], order.position[q]});
            }
            if (made.empty()) continue;
            std::sort(made.begin(), made.end());
            for (const Offer& offer : made) ascending.push_back(offer.value);
            write_mean(ascending, n_conquerors, offers.cost[at(i, model.n_classes, c)]);
            offers.conqueror[at(i, model.n_classes, c)] = order.sample[as_size(made[0].rank)];
        }
    }
}

}  // namespace

Offers class_offers(Model& model, Rows<double> queries, Index n_conquerors) {
    const std::size_t size = at(queries.count, model.n_classes);
    Offers offers{std::vector<double>(size, infinity), std::vector<Index>(size, none)};
    if (model.n_offers == 0) {
        offer_all(model, queries, n_conquerors, offers);
    } else {
        offer_along_lists(model, queries, n_conquerors, offers);
    }
    return offers;
}

std::vector<Index> winners(const Model& model, const Offers& offers) {
    const Order order(model.numbers("order"));
    const auto rank = [&](std::size_t place) {
        const Index sample = offers.conqueror[place];
        return sample == none ? model.n_samples : order.position[as_size(sample)];
    };
    std::vector<Index> best;
    for (std::size_t row = 0; row < offers.cost.size(); row += as_size(model.n_classes)) {
        std::size_t won = row;
        for (std::size_t place = row + 1; place < row + as_size(model.n_classes); ++place) {
            const double cost = offers.cost[place];
            if (cost < offers.cost[won] || (cost == offers.cost[won] && rank(place) < rank(won))) won = place;
        }
        best.push_back(static_cast<Index>(won - row));
    }
    return best;
}

void join_clusters(const Model& model, Rows<double> queries, Index* conquerors, double* values) {
    Control control;
    const Index k = model.numbers("best_k")[0];
    const auto& cost = model.values("cost");
    const auto& own = model.values("density");
    std::vector<double> distances(at(queries.count, k)), density(as_size(queries.count));
    std::vector<Index> indices(distances.size());
    query_knn(*model.engine, queries, k, {}, distances, indices, control);
    DensityKernel(largest_arc(model.graph(), k), model.squared()).sum_rows(distances, k, k, density);
    const auto [low, high] = std::minmax_element(own.begin(), own.end());
    std::array<double, 2> extremes{*low, *high};
    log_density(extremes, k);
    log_density(density, k);
    scale_density(density, extremes[0], extremes[1]);
    for (Index i = 0; i < queries.count; ++i) {
        values[i] = -infinity;
        for (std::size_t place = at(i, k); place < at(i + 1, k); ++place) {
            const double value = std::min(cost[as_size(indices[place])], density[as_size(i)]);
            if (value <= values[i]) continue;  // of equal ones the nearest, which is the first
            values[i] = value;
            conquerors[i] = indices[place];
        }
    }
}

}  // namespace pathforest::wasm
