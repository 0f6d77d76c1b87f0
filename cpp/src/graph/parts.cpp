#include "pathforest/graph/parts.hpp"

#include "pathforest/distances/engines/settler.hpp"
#include "pathforest/graph/boruvka.hpp"
#include "pathforest/graph/disjoint_sets.hpp"
#include "pathforest/graph/knn.hpp"

#include <algorithm>
#include <array>

namespace pathforest {
namespace {

// Lists are short, so that clusters with a handful of the few are distinguished.
constexpr Index list_length = 6, most_parts = 64;
// So many of the few, each sample's nearest, must agree on its part. No component has fewer.
constexpr Index n_votes = 5;
static_assert(n_votes <= list_length);

Index n_few(Index n_samples) { return std::clamp<Index>(n_samples / 40, 128, 2048); }

// Takes the arcs from one sample to those it is shown.
class Arcs : public PolicyDefaults {
  public:
    Arcs(Index sample, const std::vector<Index>& part, Joining& joining)
        : sample_(sample), part_(&part), joining_(&joining) {}

    double limit(Index) const { return infinity; }
    void offer(Index sample, double distance) {
        joining_->offer((*part_)[as_size(sample_)], (*part_)[as_size(sample)],
                        Arc::between(distance, sample_, sample));
    }

  private:
    Index sample_;
    const std::vector<Index>* part_;
    Joining* joining_;
};
static_assert(Policy<Arcs>);

}  // namespace

Parts::Parts(const AnyEngine& any, Control& control) : any_(any) {
    std::visit(
        [&](const auto& engine) {
            if constexpr (requires { engine.panels(); }) guess(engine, control);
        },
        any);
}

template <class Engine>
void Parts::guess(const Engine& engine, Control& control) {
    using T = typename Engine::Value;
    const Index n = engine.n_samples(), width = engine.n_features(), few = n_few(n);
    if (!engine.panels().filterable() || few > n / 8) return;
    std::vector<T> rows;
    std::vector<Index> samples;
    for (Index i = 0; i < few; ++i) {
        const auto position = static_cast<Index>(static_cast<std::int64_t>(i) * n / few);
        const T* row = engine.panels().row(position);
        rows.insert(rows.end(), row, row + width);
        samples.push_back(engine.sample_at(position));
    }
    const AnyEngine of_few(std::in_place_type<Engine>, rows.data(), few, width, engine.metric(), false,
                           control);
    std::vector<double> distances(at(few, list_length));
    std::vector<Index> indices(distances.size());
    knn(of_few, 0, few, list_length, distances, indices, control);
    Boruvka boruvka({distances, indices, few, list_length});
    if (!boruvka.must_ask(control) || boruvka.n_components() > most_parts) return;
    const std::vector<Index>& component = boruvka.component();

    distances.resize(at(n, n_votes));
    indices.resize(at(n, n_votes));
    const Rows<T> rows_of_all{engine.panels().row(0), n, width};
    query_knn(of_few, rows_of_all, n_votes, {}, distances, indices, control);
    const Index no_part = boruvka.n_components();
    pairs_.n_parts = no_part + 1;
    part_.resize(as_size(n));
    for (Index p = 0; p < n; ++p) {
        const auto vote = [&](Index v) { return component[as_size(indices[at(p, n_votes, v)])]; };
        Index v = 1;
        while (v < n_votes && vote(v) == vote(0)) ++v;
        pairs_.part.push_back(v < n_votes ? no_part : vote(0));
        part_[as_size(engine.sample_at(p))] = pairs_.part.back();
    }
    std::vector<Index> part_of_few;
    for (const Index sample : samples) part_of_few.push_back(part_[as_size(sample)]);
    std::vector<double> reach(at(pairs_.n_parts, pairs_.n_parts), infinity);
    for (Index a = 0; a < pairs_.n_parts; ++a)
        reach[at(a, pairs_.n_parts, no_part)] = reach[at(no_part, pairs_.n_parts, a)] = -1;
    joining_.emplace(pairs_.n_parts, reach);
    for (const Arc& arc :
         joining_arcs(of_few, rows_of_all, pairs_.part, part_of_few, pairs_.n_parts, reach, control)) {
        const Index a = engine.sample_at(arc.low), b = samples[as_size(arc.high)];
        joining_->offer(part_[as_size(a)], part_[as_size(b)], Arc::between(arc.weight, a, b));
    }
    note_limits();
    // A part that has none of the few left would be looked for everywhere.
    if (std::count(pairs_.limits.begin(), pairs_.limits.end(), infinity) > 0) joining_.reset();
    pairs_.take = [this, &engine](std::vector<PairsOfParts::Pair>& pairs) { take(engine, pairs); };
}

void Parts::note_limits() {
    joining_->settle();
    pairs_.limits.clear();
    for (Index a = 0; a < pairs_.n_parts; ++a) {
        for (Index b = 0; b < pairs_.n_parts; ++b)
            pairs_.limits.push_back(a == b ? -1 : joining_->bar(a, b).weight);
    }
}

template <class Engine>
void Parts::take(const Engine& engine, std::vector<PairsOfParts::Pair>& pairs) {
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Settler<Engine> settle(engine);
    ReducedLimit reduced(engine.metric());
    typename Engine::Query query;
    std::array<Index, lanes> positions;
    std::size_t count = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& [first, second, least] = pairs[i];
        const Arc& bar = joining_->bar(pairs_.part[as_size(first)], pairs_.part[as_size(second)]);
        if (least <= reduced(bar.weight)) positions[count++] = second;
        const bool is_last = i + 1 == pairs.size() || pairs[i + 1].first != first;
        if (count == lanes || (count > 0 && is_last)) {
            const Index sample = engine.sample_at(first);
            engine.ask_sample(sample, query);
            Arcs arcs(sample, part_, *joining_);
            settle.offer(std::span(positions).first(count), query.values.data(), arcs);
            count = 0;
        }
    }
    note_limits();
}

std::vector<Index> Parts::homes(std::span<const Index> component, Index n_components) const {
    std::vector<Index> homes;
    if (!joining_ || !pairs_.is_complete || n_components > most_joined) return homes;
    std::vector<Index> size(at(pairs_.n_parts, n_components));
    for (std::size_t i = 0; i < part_.size(); ++i) ++size[at(part_[i], n_components, component[i])];
    for (auto row = size.begin(); row != size.end() - n_components;
         row += n_components)  // that of no part is last
        homes.push_back(static_cast<Index>(std::max_element(row, row + n_components) - row));
    return homes;
}

std::vector<Arc> Parts::join(std::span<const Index> component, Index n_components, double most_pairs,
                             Control& control) const {
    const std::vector<Index> home = homes(component, n_components);
    if (home.empty()) return {};
    // A part stands for its home; samples of other components are strays, and so are those of no part.
    const auto n_homes = static_cast<Index>(home.size());
    std::vector<Index> own(part_), of_strays(as_size(n_components), none);
    std::vector<Index> home_of_own(home);
    for (std::size_t i = 0; i < part_.size(); ++i) {
        const Index c = component[i];
        if (part_[i] < n_homes && home[as_size(part_[i])] == c) continue;
        Index& number = of_strays[as_size(c)];
        if (number == none) {
            number = static_cast<Index>(home_of_own.size());
            home_of_own.push_back(c);
        }
        own[i] = number;
    }
    // An arc that ends at a stray may hide a longer one between the others. Without it, only parts that the
    // other arcs join are known to have no more of them.
    std::vector<Arc> arcs = joining_->arcs();
    DisjointSets known(static_cast<Index>(home_of_own.size()));
    std::erase_if(arcs, [&](const Arc& arc) {
        const Index a = own[as_size(arc.low)], b = own[as_size(arc.high)];
        if (std::max(a, b) >= n_homes) return true;
        known.unite(a, b);
        return false;
    });
    const auto count = static_cast<Index>(home_of_own.size());
    std::vector<double> reach(at(count, count), -1), size_of_own(as_size(count));
    for (const Index c : own) ++size_of_own[as_size(c)];
    double n_pairs = 0;
    for (Index a = 0; a < count; ++a) {
        for (Index b = 0; b < count; ++b) {
            if (home_of_own[as_size(a)] == home_of_own[as_size(b)] || known.find(a) == known.find(b))
                continue;
            reach[at(a, count, b)] = infinity;
            n_pairs += size_of_own[as_size(a)] * size_of_own[as_size(b)] / 2;
        }
    }
    if (n_pairs == 0) return arcs;
    if (n_pairs > most_pairs) return {};
    const std::vector<Arc> of_them = joining_arcs(any_, own, count, reach, control);
    arcs.insert(arcs.end(), of_them.begin(), of_them.end());
    std::sort(arcs.begin(), arcs.end());
    return arcs;
}

}  // namespace pathforest
