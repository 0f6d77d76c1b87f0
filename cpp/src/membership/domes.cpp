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
#include <numeric>
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

using Border = std::pair<Index, Index>;  // two clusters that an arc joins

// Lets the level fall, and notes what is absorbed when domes meet.
//
// Each sample but founders and maxima lies on a slope: it is joined, from its own level on, to a denser
// sample of its list. So arcs between samples on the slopes of one of these tops join nothing, and components
// are made of tops.
class Flood {
  public:
    Flood(const KnnGraph& graph, Index k, std::span<const double> scaled, std::span<const Index> label,
          std::span<const Index> founders, Measure measure)
        : founders_(founders), measure_(measure), bordering_(static_cast<Index>(founders.size())) {
        DensityQueue queue(graph.n_samples);
        queue.fill(scaled);
        order_.assign(queue.order().begin(), queue.order().end());
        samples_.reserve(scaled.size());
        for (std::size_t i = 0; i < scaled.size(); ++i) samples_.push_back({scaled[i], none, label[i]});
        for (const Index founder : founders) samples_[as_size(founder)].top = n_tops_++;
        for (const Ranked& ranked : order_) {
            Sample& sample = samples_[as_size(ranked.sample)];
            for (Index c = 0; c < k && sample.top == none; ++c) {
                const Sample& other = samples_[as_size(graph.index(ranked.sample, c))];
                if (other.density > sample.density) sample.top = other.top;
            }
            if (sample.top == none) sample.top = n_tops_++;
        }
        components_ = DisjointSets(n_tops_);
        counts_.assign(as_size(n_tops_), 0);
        volumes_.assign(as_size(n_tops_), Volume(0));
        clusters_.assign(as_size(n_tops_), none);
        std::iota(clusters_.begin(), clusters_.begin() + std::ssize(founders), Index{0});
    }

    void run(const KnnGraph& graph, Index k, const Pause& pause) {
        const Adjacency arcs = arcs_by_lower_end(graph, k);
        for (std::size_t i = 0, begin = 0; i < order_.size(); ++i) {
            if (i % samples_between_pauses == 0) pause();
            const double level = order_[i].value();
            const Sample& lower = samples_[as_size(order_[i].sample)];
            for (const Neighbour& arc : arcs.of(order_[i].sample)) {
                const Sample& higher = samples_[as_size(arc.sample)];
                unite(lower.top, higher.top, level);
                if (bordering_.find(lower.label) != bordering_.find(higher.label))
                    joins_.push_back({Arc::between(arc.distance, order_[i].sample, arc.sample),
                                      {lower.label, higher.label}});
            }
            if (i + 1 < order_.size() && order_[i + 1].value() == level) continue;
            note_borders();
            absorb(level);
            for (; begin <= i; ++begin) {  // samples at the level are above later ones
                const Index top = samples_[as_size(order_[begin].sample)].top;
                const auto component = as_size(components_.find(top));
                ++counts_[component];
                volumes_[component] += Volume(level);
            }
        }
        std::sort(absorbed_.begin(), absorbed_.end(), [&](const Absorption& a, const Absorption& b) {
            const auto key = [&](const Absorption& x) {
                return std::tuple(rounded(x.dome), -x.level, x.dome.minus_cluster);
            };
            return key(a) < key(b);
        });
        const std::ptrdiff_t n_joined = std::ssize(absorbed_);
        for (Index top = 0; top < n_tops_; ++top) {
            if (components_.find(top) == top && clusters_[as_size(top)] != none) meet(top, 0.0);
        }
        absorb(0.0);
        std::reverse(absorbed_.begin() + n_joined, absorbed_.end());
    }

    // In the order of the tree.
    const std::vector<Absorption>& absorbed() const { return absorbed_; }

    // By their first arcs: the highest, then in the order of arcs. Only those that join what earlier ones do
    // not: whatever clusters have merged, the first border that leads out of them is among these.
    const std::vector<Border>& borders() const { return borders_; }

  private:
    struct Sample {
        double density;
        Index top;  // founders come first, in their order
        Index label;
    };

    // An arc exists from the level of its lower end on.
    Adjacency arcs_by_lower_end(const KnnGraph& graph, Index k) const {
        std::vector<std::uint64_t> place;  // top and label in a word: most arcs are seen to join nothing
        place.reserve(samples_.size());
        for (const Sample& s : samples_)
            place.push_back(std::uint64_t{static_cast<std::uint32_t>(s.top)} << 32 |
                            static_cast<std::uint32_t>(s.label));
        return Adjacency(graph.n_samples, [&](auto visit) {
            for (Index i = 0; i < graph.n_samples; ++i) {
                for (Index c = 0; c < k; ++c) {
                    const Index j = graph.index(i, c);
                    if (place[as_size(i)] == place[as_size(j)]) continue;
                    const bool is_lower = samples_[as_size(i)].density < samples_[as_size(j)].density;
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
            if (clusters_[as_size(component)] != none) meet(component, level);
        }
        components_.unite(a, b);
        const Index both = components_.find(a), other = both == a ? b : a;
        counts_[as_size(both)] += counts_[as_size(other)];
        volumes_[as_size(both)] += volumes_[as_size(other)];
        clusters_[as_size(both)] = none;  // until all that meets at this level is known
    }

    void note_borders() {
        std::sort(joins_.begin(), joins_.end());
        for (const auto& [arc, clusters] : joins_) {
            if (bordering_.unite(clusters.first, clusters.second)) borders_.push_back(clusters);
        }
        joins_.clear();
    }

    // Measures a component above a level.
    void meet(Index component, double level) {
        const Index cluster = clusters_[as_size(component)], area = counts_[as_size(component)];
        const double height = samples_[as_size(founders_[as_size(cluster)])].density - level;
        const Volume volume = volumes_[as_size(component)].without(Volume(level), area);
        std::pair<double, std::uint64_t> size{height, 0};
        if (measure_ == Measure::area) size.first = area;
        if (measure_ == Measure::volume) size = {volume.whole(), volume.part()};
        met_.push_back({none, size, -cluster, height, area, volume.value()});
    }

    // Of the domes that met in a component, the largest stands for it; of all of them together at level 0.
    void absorb(double level) {
        for (Dome& dome : met_) {
            if (level > 0) dome.component = components_.find(-dome.minus_cluster);
        }
        std::sort(met_.begin(), met_.end());
        const Dome* largest = nullptr;
        for (std::size_t i = met_.size(); i-- > 0;) {
            if (largest && met_[i].component == largest->component) {
                absorbed_.push_back({met_[i], -largest->minus_cluster, level});
                continue;
            }
            largest = &met_[i];
            if (level > 0) clusters_[as_size(largest->component)] = -largest->minus_cluster;
        }
        met_.clear();
    }

    double rounded(const Dome& dome) const {
        return measure_ == Measure::volume ? dome.volume : dome.size.first;
    }

    std::span<const Index> founders_;
    Measure measure_;
    std::vector<Ranked> order_;
    std::vector<Sample> samples_;
    Index n_tops_ = 0;
    DisjointSets components_{0};
    // Per component, of its samples above the level.
    std::vector<Index> counts_;
    std::vector<Volume> volumes_;
    std::vector<Index> clusters_;  // that stand for components; none if there is no founder
    // At this level.
    std::vector<Dome> met_;
    std::vector<std::pair<Arc, Border>> joins_;
    std::vector<Absorption> absorbed_;
    std::vector<Border> borders_;
    DisjointSets bordering_;  // clusters that borders join
};

// The clusters across the borders of each cluster, while clusters merge.
class Neighbours {
  public:
    Neighbours(const std::vector<Border>& borders, std::size_t n_clusters)
        : leads_to_(n_clusters), ways_(n_clusters) {
        std::iota(leads_to_.begin(), leads_to_.end(), Index{0});
        for (std::size_t place = 0; place < borders.size(); ++place) {  // ascending, which makes heaps
            ways_[as_size(borders[place].first)].emplace_back(place, borders[place].second);
            ways_[as_size(borders[place].second)].emplace_back(place, borders[place].first);
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
    Flood flood(graph, k, scaled, label, founders, measure);
    flood.run(graph, k, pause);
    Neighbours neighbours(flood.borders(), founders.size());
    DomeTree tree;
    for (const auto& [dome, winner, level] : flood.absorbed()) {
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
