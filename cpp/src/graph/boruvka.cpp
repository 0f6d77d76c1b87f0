#include "pathforest/graph/boruvka.hpp"

#include "pathforest/parallel.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace pathforest {
namespace {

// Each slice of the lists has a table of all components, and one thread puts the tables together: more slices
// would cost more than they save.
constexpr int most_slices = 8;

Index n_slices(const Control& control) { return std::min(control.n_threads(), most_slices); }

// Calls work(slice, begin, end) for consecutive slices of the numbers below `count`.
template <class Work>
void in_slices(Index count, Control& control, Work work) {
    const Index size = (count + n_slices(control) - 1) / n_slices(control);
    parallel_for(
        n_slices(control), control, [] { return 0; },
        [&](Index slice, int, const Pause&) {
            work(slice, std::min(count, slice * size), std::min(count, (slice + 1) * size));
        });
}

}  // namespace

// By the leading bits of the weight digit by digit, which is faster than comparisons; then by
// comparisons where these bits are equal. If most are in order, only the others are sorted, and merged.
void sort_arcs(std::vector<Arc>& arcs) {
    const auto rest = std::is_sorted_until(arcs.begin(), arcs.end());
    if (10 * (arcs.end() - rest) < std::ssize(arcs)) {
        std::sort(rest, arcs.end());
        std::inplace_merge(arcs.begin(), rest, arcs.end());
        return;
    }
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

Boruvka::Boruvka(const KnnGraph& graph, std::vector<Index> original, std::span<const Index> name,
                 bool answers_are_cheap)
    : graph_(graph), n_(graph.n_samples), original_(std::move(original)), name_(name),
      answers_are_cheap_(answers_are_cheap), component_(as_size(n_)), cursor_(as_size(n_), 0),
      beyond_(as_size(n_), Neighbour{-1.0, none}), size_(as_size(n_), 1), reading_(as_size(n_)) {
    std::iota(component_.begin(), component_.end(), Index{0});
    std::iota(reading_.begin(), reading_.end(), Index{0});
    for (Index i = 0; i < n_ && graph.k > 0; ++i) {
        beyond_[as_size(i)] = {graph.distance(i, graph.k - 1), graph.index(i, graph.k - 1)};
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
    std::vector<Arc> first(as_size(n_));  // per component, all arcs but known ones come after it, or are it
    for (Index i = 0; i < n_; ++i) first[as_size(i)] = bound(i);
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
    if (n_components() == n_ && n_ > 1 && known_.empty() && graph_.k > 0) join_nearest();
    while (n_components() > 1) {
        control.check();
        read_lists(control);
        const auto n_settled = std::count(is_open_.begin(), is_open_.end(), false);
        if (2 * n_settled >= (answers_are_cheap_ ? n_components() : 1)) {
            if (merge([this](Index c) { return !is_open_[as_size(c)]; })) continue;
        }
        waits_.assign(size_.size(), false);
        waits_[static_cast<std::size_t>(std::max_element(size_.begin(), size_.end()) - size_.begin())] = true;
        std::erase_if(asking_, [this](Index i) { return waits_[as_size(component_[as_size(i)])]; });
        return true;
    }
    return false;
}

bool Boruvka::let_wait(const std::vector<char>& waits) {
    std::vector<Index> asking(asking_);
    std::erase_if(asking, [&](Index i) { return waits[as_size(component_[as_size(i)])]; });
    if (asking.empty()) return false;
    asking_ = std::move(asking);
    std::transform(waits.begin(), waits.end(), waits_.begin(), waits_.begin(), std::logical_or());
    return true;
}

void Boruvka::answer(Index sample, const Neighbour& nearest, double searched) {
    if (nearest.sample != none && nearest.distance <= searched) {
        beyond_[as_size(sample)] = nearest;
    } else if (bound(sample) < after_all(searched)) {
        beyond_[as_size(sample)] = {searched, none};
    }
}

bool Boruvka::merge_answers() {
    for (const Index i : asking_) {
        if (!knows_outsider(i)) continue;
        improve(i, beyond_[as_size(i)], best_);
        answered_.push_back(i);
    }
    return merge([this](Index c) { return !waits_[as_size(c)]; });
}

bool Boruvka::is_joined_sooner() const {
    if (n_components() > most_joined || answers_are_cheap_) return false;
    const double n = n_;
    double pairs = n * n;
    for (const Index size : size_) pairs -= static_cast<double>(size) * size;
    return pairs / 2 < n * static_cast<double>(asking_.size());
}

bool Boruvka::join(std::span<const Arc> arcs) {
    DisjointSets sets(n_components());
    for (const auto& [weight, low, high] : arcs) {
        if (sets.unite(component_[as_size(low)], component_[as_size(high)]))
            arcs_.push_back(arc_between(weight, low, high));
    }
    number_anew(sets);
    return n_components() == 1;
}

// The first round: every sample is a component, and the first entry of its list is its lightest arc.
void Boruvka::join_nearest() {
    DisjointSets sets(n_);
    for (Index i = 0; i < n_; ++i) {
        const Index nearest = graph_.index(i, 0);
        if (sets.unite(i, nearest)) arcs_.push_back(arc_between(graph_.distance(i, 0), i, nearest));
    }
    number_anew(sets);
}

// Fills best_ with each component's lightest known arc, asking_ with the samples that might have a lighter
// one that has not been looked for, and is_open_ with whether a component has such samples.
void Boruvka::read_lists(Control& control) {
    std::vector<Reading> readings(as_size(n_slices(control)));
    in_slices(static_cast<Index>(reading_.size()), control, [&](Index slice, Index begin, Index end) {
        Reading& reading = readings[as_size(slice)];
        reading.best.resize(size_.size());
        for (Index r = begin; r < end; ++r) read_on(reading_[as_size(r)], reading);
    });
    best_ = std::move(readings.front().best);
    reading_.clear();
    for (const Reading& reading : readings) {
        for (std::size_t c = 0; c < reading.best.size(); ++c) {
            if (reading.best[c].arc < best_[c].arc) best_[c] = reading.best[c];
        }
        reading_.insert(reading_.end(), reading.unfinished.begin(), reading.unfinished.end());
        answered_.insert(answered_.end(), reading.finished.begin(), reading.finished.end());
    }
    std::erase_if(answered_, [this](Index i) { return !knows_outsider(i); });
    for (const Index i : answered_) improve(i, beyond_[as_size(i)], best_);
    std::erase_if(known_, [this](const Arc& arc) {
        return component_[as_size(arc.low)] == component_[as_size(arc.high)];
    });
    for (const Arc& arc : known_) {
        improve(arc.low, {arc.weight, arc.high}, best_);
        improve(arc.high, {arc.weight, arc.low}, best_);
    }
    std::vector<std::vector<Index>> asking(as_size(n_slices(control)));
    in_slices(n_, control, [&](Index slice, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            if (is_open(i)) asking[as_size(slice)].push_back(i);
        }
    });
    asking_.clear();
    is_open_.assign(size_.size(), false);
    for (const std::vector<Index>& samples : asking) {
        asking_.insert(asking_.end(), samples.begin(), samples.end());
        for (const Index i : samples) is_open_[as_size(component_[as_size(i)])] = true;
    }
}

void Boruvka::read_on(Index i, Reading& reading) {
    if (is_spoken_for(i)) return;
    const Index own = component_[as_size(i)];
    Index& cursor = cursor_[as_size(i)];
    while (cursor < graph_.k && component_[as_size(graph_.index(i, cursor))] == own) ++cursor;
    if (cursor == graph_.k) {
        reading.finished.push_back(i);
        return;
    }
    improve(i, {graph_.distance(i, cursor), graph_.index(i, cursor)}, reading.best);
    reading.unfinished.push_back(i);
}

void Boruvka::improve(Index i, const Neighbour& foreign, std::vector<Exit>& best) const {
    Exit& exit = best[as_size(component_[as_size(i)])];
    if (foreign.distance > exit.arc.weight) return;
    const Arc arc = arc_between(foreign.distance, i, foreign.sample);
    if (arc < exit.arc) exit = {arc, foreign.sample};
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
