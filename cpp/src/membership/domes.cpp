#include "pathforest/membership/domes.hpp"

#include "pathforest/graph/adjacency.hpp"
#include "pathforest/graph/disjoint_sets.hpp"
#include "pathforest/membership/density_queue.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

namespace pathforest {
namespace {

// A sum of densities. As they lie in [1, 1000], they are multiples of 2^-52: sums are exact, and equal domes
// tie whatever the order of their samples.
class Volume {
  public:
    explicit Volume(double density)
        : whole_(static_cast<std::int64_t>(density)),
          part_(static_cast<std::uint64_t>(std::ldexp(density - static_cast<double>(whole_), bits))) {}

    Volume& operator+=(const Volume& other) {
        carry(whole_ + other.whole_, part_ + other.part_);
        return *this;
    }

    // Takes `count` times the other off, which is not more.
    Volume without(const Volume& other, Index count) const {
        const auto times = static_cast<std::uint64_t>(count);
        const std::uint64_t high = (other.part_ >> half) * times,
                            low = (other.part_ & (unit_half - 1)) * times;
        Volume product = other;
        product.carry(other.whole_ * count + static_cast<std::int64_t>(high >> half),
                      ((high & (unit_half - 1)) << half) + low);
        Volume rest = *this;
        const bool borrows = part_ < product.part_;
        rest.carry(whole_ - product.whole_ - borrows, part_ + (borrows ? unit : 0) - product.part_);
        return rest;
    }

    // Rounded once: both terms are exact.
    double value() const { return whole() + std::ldexp(static_cast<double>(part_), -bits); }

    // These two compare as the sum does.
    double whole() const { return static_cast<double>(whole_); }
    std::uint64_t part() const { return part_; }

  private:
    static constexpr int bits = 52, half = bits / 2;
    static constexpr std::uint64_t unit = std::uint64_t{1} << bits, unit_half = std::uint64_t{1} << half;

    void carry(std::int64_t whole, std::uint64_t part) {
        whole_ = whole + static_cast<std::int64_t>(part >> bits);
        part_ = part & (unit - 1);
    }

    std::int64_t whole_;
    std::uint64_t part_;  // in units
};

// A dome above some level, and the cluster that stands for it, as a position among the founders.
struct Dome {
    Index component;
    std::pair<double, std::uint64_t> size;  // the measure that decides
    Index minus_cluster;
    double height;
    Index area;
    double volume;

    friend bool operator<(const Dome& a, const Dome& b) {
        return std::tie(a.component, a.size, a.minus_cluster) <
               std::tie(b.component, b.size, b.minus_cluster);
    }
};

struct Absorption {
    Dome dome;
    Index winner;
    double level;
};

// Lets the level fall, and notes what is absorbed when domes meet.
class Flood {
  public:
    Flood(std::span<const double> scaled, std::span<const Index> founders, Measure measure)
        : scaled_(scaled), founders_(founders), measure_(measure),
          components_(static_cast<Index>(scaled.size())), volume_(scaled.begin(), scaled.end()),
          cluster_(scaled.size(), none), grown_at_(scaled.size(), 0.0) {
        for (std::size_t c = 0; c < founders.size(); ++c)
            cluster_[as_size(founders[c])] = static_cast<Index>(c);
    }

    std::vector<Absorption> run(const KnnGraph& graph, Index k, const Pause& pause) {
        const Adjacency arcs = arcs_by_lower_end(graph, k);
        std::vector<Ranked> order;
        for (std::size_t i = 0; i < scaled_.size(); ++i)
            order.push_back({-scaled_[i], static_cast<Index>(i)});
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i % samples_between_pauses == 0) pause();
            const double level = order[i].value();
            for (const Neighbour& higher : arcs.of(order[i].sample))
                unite(order[i].sample, higher.sample, level);
            if (i + 1 == order.size() || order[i + 1].value() != level) absorb(level);
        }
        std::sort(absorbed_.begin(), absorbed_.end(), [&](const Absorption& a, const Absorption& b) {
            const auto key = [&](const Absorption& x) {
                return std::tuple(rounded(x.dome), -x.level, x.dome.minus_cluster);
            };
            return key(a) < key(b);
        });
        const auto n_joined = static_cast<std::ptrdiff_t>(absorbed_.size());
        for (const Index founder : founders_) {
            const Index component = components_.find(founder);
            const Index cluster = std::exchange(cluster_[as_size(component)], none);
            if (cluster != none) meet(component, cluster, 0.0);
        }
        absorb(0.0);
        std::reverse(absorbed_.begin() + n_joined, absorbed_.end());
        return std::move(absorbed_);
    }

  private:
    // An arc exists from the level of its lower end on.
    Adjacency arcs_by_lower_end(const KnnGraph& graph, Index k) const {
        return Adjacency(graph.n_samples, [&](auto visit) {
            for (Index i = 0; i < graph.n_samples; ++i) {
                for (Index c = 0; c < k; ++c) {
                    const Index j = graph.index(i, c);
                    const bool is_lower = scaled_[as_size(i)] < scaled_[as_size(j)];
                    visit(is_lower ? i : j, {graph.distance(i, c), is_lower ? j : i});
                }
            }
        });
    }

    void unite(Index a, Index b, double level) {
        a = components_.find(a);
        b = components_.find(b);
        if (a == b) return;
        for (const Index component : {a, b}) {
            const Index cluster = cluster_[as_size(component)];
            if (cluster != none && grown_at_[as_size(component)] != level) meet(component, cluster, level);
        }
        components_.unite(a, b);
        const Index both = components_.find(a);
        volume_[as_size(both)] += volume_[as_size(both == a ? b : a)];
        grown_at_[as_size(both)] = level;
        cluster_[as_size(both)] = none;  // until all that meets at this level is known
    }

    // Measures a component above a level that no arc within it has reached: either all of its samples are
    // above the level, or it is a single one at the level.
    void meet(Index component, Index cluster, double level) {
        const Index count = components_.size_of(component);
        const Index area = scaled_[as_size(component)] > level ? count : 0;
        const double height = scaled_[as_size(founders_[as_size(cluster)])] - level;
        const Volume volume = volume_[as_size(component)].without(Volume(level), count);
        std::pair<double, std::uint64_t> size{height, 0};
        if (measure_ == Measure::area) size.first = area;
        if (measure_ == Measure::volume) size = {volume.whole(), volume.part()};
        met_.push_back({none, size, -cluster, height, area, volume.value()});
    }

    // Of the domes that met in a component, the largest stands for it; of all of them together at level 0.
    void absorb(double level) {
        for (Dome& dome : met_) {
            if (level > 0) dome.component = components_.find(founders_[as_size(-dome.minus_cluster)]);
        }
        std::sort(met_.begin(), met_.end());
        const Dome* largest = nullptr;
        for (std::size_t i = met_.size(); i-- > 0;) {
            if (largest && met_[i].component == largest->component) {
                absorbed_.push_back({met_[i], -largest->minus_cluster, level});
                continue;
            }
            largest = &met_[i];
            if (level > 0) cluster_[as_size(largest->component)] = -largest->minus_cluster;
        }
        met_.clear();
    }

    double rounded(const Dome& dome) const {
        return measure_ == Measure::volume ? dome.volume : dome.size.first;
    }

    std::span<const double> scaled_;
    std::span<const Index> founders_;
    Measure measure_;
    DisjointSets components_;
    // Per component, at the sample that represents it.
    std::vector<Volume> volume_;
    std::vector<Index> cluster_;  // that stands for it; none if it has no founder
    std::vector<double> grown_at_;
    std::vector<Dome> met_;  // at this level
    std::vector<Absorption> absorbed_;
};

// Two clusters that an arc joins, by the first such arc.
struct Border {
    Index a, b;
    double minus_level;
    Arc arc;

    friend auto operator<=>(const Border&, const Border&) = default;
};

// The highest first, then in the order of arcs.
std::vector<Border> find_borders(const KnnGraph& graph, Index k, std::span<const double> scaled,
                                 std::span<const Index> label) {
    std::vector<Border> borders;
    for (Index i = 0; i < graph.n_samples; ++i) {
        for (Index c = 0; c < k; ++c) {
            const Index j = graph.index(i, c);
            const auto [a, b] = std::minmax(label[as_size(i)], label[as_size(j)]);
            if (a == b) continue;
            borders.push_back({a, b, -std::min(scaled[as_size(i)], scaled[as_size(j)]),
                               Arc::between(graph.distance(i, c), i, j)});
        }
    }
    std::sort(borders.begin(), borders.end());
    const auto joins_the_same = [](const Border& x, const Border& y) { return x.a == y.a && x.b == y.b; };
    borders.erase(std::unique(borders.begin(), borders.end(), joins_the_same), borders.end());
    std::sort(borders.begin(), borders.end(), [](const Border& x, const Border& y) {
        return x.minus_level != y.minus_level ? x.minus_level < y.minus_level : x.arc < y.arc;
    });
    return borders;
}

// The clusters across the borders of each cluster, while clusters merge.
class Neighbours {
  public:
    Neighbours(const std::vector<Border>& borders, std::size_t n_clusters)
        : leads_to_(n_clusters), ways_(n_clusters) {
        std::iota(leads_to_.begin(), leads_to_.end(), Index{0});
        for (std::size_t place = 0; place < borders.size(); ++place) {  // ascending, which makes heaps
            ways_[as_size(borders[place].a)].emplace_back(place, borders[place].b);
            ways_[as_size(borders[place].b)].emplace_back(place, borders[place].a);
        }
    }

    // Returns the cluster that a cluster joins: across its first border, or the winner's if it has none.
    Index join(Index child, Index winner) {
        std::vector<Way>& from = ways_[as_size(child)];
        while (!from.empty() && follow(from.front().second) == child) {
            std::pop_heap(from.begin(), from.end(), std::greater{});
            from.pop_back();
        }
        const Index parent = follow(from.empty() ? winner : from.front().second);
        std::vector<Way>& to = ways_[as_size(parent)];
        if (to.size() < from.size()) std::swap(from, to);
        for (const Way& way : from) {
            to.push_back(way);
            std::push_heap(to.begin(), to.end(), std::greater{});
        }
        from = {};
        return leads_to_[as_size(child)] = parent;
    }

  private:
    using Way = std::pair<std::size_t, Index>;  // place of the border, cluster across

    Index follow(Index cluster) {
        const auto next = [&](Index c) -> Index& { return leads_to_[as_size(c)]; };
        while (next(cluster) != cluster) cluster = next(cluster) = next(next(cluster));
        return cluster;
    }

    std::vector<Index> leads_to_;
    std::vector<std::vector<Way>> ways_;
};

}  // namespace

DomeTree dome_tree(const KnnGraph& graph, Index k, std::span<const double> scaled,
                   std::span<const Index> label, std::span<const Index> founders, Measure measure,
                   const Pause& pause) {
    const std::vector<Absorption> absorbed = Flood(scaled, founders, measure).run(graph, k, pause);
    Neighbours neighbours(find_borders(graph, k, scaled, label), founders.size());
    DomeTree tree;
    for (const auto& [dome, winner, level] : absorbed) {
        const Index child = -dome.minus_cluster;
        tree.child.push_back(founders[as_size(child)]);
        tree.parent.push_back(founders[as_size(neighbours.join(child, winner))]);
        tree.level.push_back(level);
        tree.height.push_back(dome.height);
        tree.area.push_back(dome.area);
        tree.volume.push_back(dome.volume);
    }
    return tree;
}

MergedClusters merge_domes(std::span<const Index> child, std::span<const Index> parent,
                           std::span<const Index> founders, std::span<const Index> root) {
    std::vector<Index> owner(root.size(), none);  // of each founder
    for (const Index founder : founders) owner[as_size(founder)] = founder;
    // A dome absorbs others before it is absorbed itself, so the last rows come first.
    for (std::size_t row = child.size(); row-- > 0;) owner[as_size(child[row])] = owner[as_size(parent[row])];
    MergedClusters merged{std::vector<Index>(root.size()), {}};
    std::vector<Index> number(root.size(), none);
    for (const Index founder : founders) {
        if (owner[as_size(founder)] != founder) continue;
        number[as_size(founder)] = static_cast<Index>(merged.roots.size());
        merged.roots.push_back(founder);
    }
    for (std::size_t i = 0; i < root.size(); ++i) merged.label[i] = number[as_size(owner[as_size(root[i])])];
    return merged;
}

}  // namespace pathforest
