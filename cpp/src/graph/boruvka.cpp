#include "pathforest/graph/boruvka.hpp"

#include "pathforest/ties.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace pathforest {
namespace {

// Before and, at a given weight, after every arc between samples.
constexpr Arc before_all{-1.0, none, none};
constexpr Index last = std::numeric_limits<Index>::max();

// By the leading bits of the weight digit by digit, which is faster than comparisons; then by
// comparisons where these bits are equal.
void sort_arcs(std::vector<Arc>& arcs) {
    constexpr int digit_bits = 11, leading = 64 - 3 * digit_bits;
    // The bits of doubles that are not negative count up like integers; -0 becomes 0.
    const auto bits = [](const Arc& arc) { return std::bit_cast<std::uint64_t>(arc.weight + 0.0); };
    std::vector<Arc> other(arcs.size());
    for (int shift = leading; shift < 64; shift += digit_bits) {
        const auto digit = [&](const Arc& arc) { return (bits(arc) >> shift) & ((1 << digit_bits) - 1); };
        std::array<std::size_t, std::size_t{1} << digit_bits> place{};
        for (const Arc& arc : arcs) ++place[digit(arc)];
        std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
        for (const Arc& arc : arcs) other[place[digit(arc)]++] = arc;
        arcs.swap(other);
    }
    for (auto first = arcs.begin(); first != arcs.end();) {
        const auto end = std::find_if(first, arcs.end(), [&](const Arc& arc) {
            return bits(arc) >> leading != bits(*first) >> leading;
        });
        std::sort(first, end);
        first = end;
    }
}

}  // namespace

Boruvka::Boruvka(const KnnGraph& graph, std::vector<Index> original, std::span<const Index> name,
                 bool answers_are_cheap)
    : graph_(graph), n_(graph.n_samples), original_(std::move(original)), name_(name),
      answers_are_cheap_(answers_are_cheap), component_(as_size(n_)), cursor_(as_size(n_), 0),
      asked_(as_size(n_), Neighbour{infinity, none}), bound_(as_size(n_), before_all), size_(as_size(n_), 1),
      reading_(as_size(n_)) {
    std::iota(component_.begin(), component_.end(), Index{0});
    std::iota(reading_.begin(), reading_.end(), Index{0});
    for (Index i = 0; i < n_ && graph.k > 0; ++i) {
        bound_[as_size(i)] = arc_between(graph.distance(i, graph.k - 1), i, graph.index(i, graph.k - 1));
    }
    arcs_.reserve(as_size(n_));
}

void Boruvka::keep(std::span<const Arc> arcs) {
    original_.clear();
    DisjointSets joined(n_);
    for (const Arc& arc : arcs) {
        if (joined.unite(arc.low, arc.high)) arcs_.push_back(arc);
    }
    number_anew(joined);
}

// No arc of the known tree leaves a component before the one that joins it to another, as they ascend. So
// that one stays if all others that leave the component come after it; if not, it competes with them.
void Boruvka::know(const Joins& known) {
    std::vector<Arc> first = bound_;  // per component, all arcs but the known ones come after it, or are it
    std::vector<Arc> stay;
    stay.reserve(known.tree.size());
    for (std::size_t a = 0; a < known.tree.size(); ++a) {
        const Arc& mine = first[as_size(known.smaller[a])];
        (known.tree[a] < mine ? stay : known_).push_back(known.tree[a]);
        Arc& joined = first[as_size(known.larger[a])];
        joined = std::min(joined, mine);
    }
    keep(stay);
}

bool Boruvka::must_ask(Control& control) {
    while (n_components() > 1) {
        control.check();
        read_lists();
        const auto n_settled = std::count(open_.begin(), open_.end(), Index{0});
        if (2 * n_settled >= (answers_are_cheap_ ? n_components() : 1)) {
            if (merge([this](Index c) { return open_[as_size(c)] == 0; })) continue;
        }
        largest_ = static_cast<Index>(std::max_element(size_.begin(), size_.end()) - size_.begin());
        std::erase_if(asking_, [this](Index i) { return component_[as_size(i)] == largest_; });
        return true;
    }
    return false;
}

void Boruvka::answer(Index sample, const Neighbour& nearest, double searched) {
    if (nearest.sample != none && nearest.distance <= searched) {
        asked_[as_size(sample)] = nearest;
        bound_[as_size(sample)] = arc_between(nearest.distance, sample, nearest.sample);
    } else {
        bound_[as_size(sample)] = std::max(bound_[as_size(sample)], Arc{searched, last, last});
    }
}

bool Boruvka::merge_answers() {
    for (const Index i : asking_) {
        if (!knows_outsider(i)) continue;
        improve(i, asked_[as_size(i)]);
        answered_.push_back(i);
    }
    return merge([this](Index c) { return c != largest_; });
}

std::vector<Arc> Boruvka::arcs() const {
    std::vector<Arc> sorted = arcs_;
    sort_arcs(sorted);
    return sorted;
}

// Fills best_ with each component's lightest known arc, asking_ with the samples that might have a lighter
// one that has not been looked for, and open_ with how many these are.
void Boruvka::read_lists() {
    best_.assign(size_.size(), Exit{});
    open_.assign(size_.size(), 0);
    asking_.clear();
    std::erase_if(reading_, [this](Index i) { return !read_on(i); });
    std::erase_if(answered_, [this](Index i) { return !knows_outsider(i); });
    for (const Index i : answered_) improve(i, asked_[as_size(i)]);
    std::erase_if(known_, [this](const Arc& arc) {
        return component_[as_size(arc.low)] == component_[as_size(arc.high)];
    });
    for (const Arc& arc : known_) {
        improve(arc.low, {arc.weight, arc.high});
        improve(arc.high, {arc.weight, arc.low});
    }
    for (Index i = 0; i < n_; ++i) {
        if (!is_open(i)) continue;
        asking_.push_back(i);
        ++open_[as_size(component_[as_size(i)])];
    }
}

// False if the sample's list is of no more use.
bool Boruvka::read_on(Index i) {
    if (is_spoken_for(i)) return false;
    const Index own = component_[as_size(i)];
    Index& cursor = cursor_[as_size(i)];
    while (cursor < graph_.k && component_[as_size(graph_.index(i, cursor))] == own) ++cursor;
    if (cursor == graph_.k) {
        if (knows_outsider(i)) answered_.push_back(i);
        return false;
    }
    improve(i, {graph_.distance(i, cursor), graph_.index(i, cursor)});
    return true;
}

void Boruvka::improve(Index i, const Neighbour& foreign) {
    Exit& best = best_[as_size(component_[as_size(i)])];
    if (foreign.distance > best.arc.weight) return;
    const Arc arc = arc_between(foreign.distance, i, foreign.sample);
    if (arc < best.arc) best = {arc, i, foreign.sample};
}

// Adds the best arc of every component that may move; true if any did.
template <class MayMove>
bool Boruvka::merge(MayMove may_move) {
    const std::size_t before = arcs_.size();
    DisjointSets sets(n_components());
    for (Index c = 0; c < n_components(); ++c) {
        const Exit& best = best_[as_size(c)];
        if (best.to == none || !may_move(c)) continue;
        if (sets.unite(c, component_[as_size(best.to)])) arcs_.push_back(best.arc);
    }
    if (arcs_.size() == before) return false;
    number_anew(sets);
    return true;
}

// Components are now sets of those there were.
void Boruvka::number_anew(DisjointSets& sets) {
    std::vector<Index> number(size_.size(), none);
    std::vector<Index> size;
    for (Index c = 0; c < n_components(); ++c) {
        Index& found = number[as_size(sets.find(c))];
        if (found == none) {
            found = static_cast<Index>(size.size());
            size.push_back(0);
        }
        size[as_size(found)] += size_[as_size(c)];
    }
    for (Index c = 0; c < n_components(); ++c) number[as_size(c)] = number[as_size(sets.find(c))];
    for (Index& component : component_) component = number[as_size(component)];
    size_ = std::move(size);
}

Joins::Joins(std::vector<Arc> arcs) : tree(std::move(arcs)), smaller(tree.size()), larger(tree.size()) {
    DisjointSets sets(static_cast<Index>(tree.size()) + 1);
    for (std::size_t a = 0; a < tree.size(); ++a) {
        const Index low = sets.find(tree[a].low), high = sets.find(tree[a].high);
        sets.unite(low, high);
        larger[a] = sets.find(low);
        smaller[a] = larger[a] == low ? high : low;
    }
}

std::vector<double> Joins::levels() const {
    // The last arc first: it is then known of what a component joins when that joined something else.
    std::vector<double> last(tree.size() + 1, 0.0);
    for (std::size_t a = tree.size(); a-- > 0;)
        last[as_size(smaller[a])] = std::max(tree[a].weight, last[as_size(larger[a])]);
    return last;
}

}  // namespace pathforest
