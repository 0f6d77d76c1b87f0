#include "domes.hpp"

#include "pathforest/graph/disjoint_sets.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace pathforest::wasm {
namespace {

// A cluster that ceases to count, where its dome meets a higher one. Clusters are numbered in order of birth,
// so of equally high ones the first is the higher.
struct Meeting {
    double height, level;
    Index child, winner;

    friend bool operator<(const Meeting& a, const Meeting& b) {
        return std::tuple(a.height, -a.level, -a.child) < std::tuple(b.height, -b.level, -b.child);
    }
};

// The arcs of the graph, by the level from which on they exist: the density of their lower end. Highest
// first.
using Levels = std::vector<std::pair<double, std::vector<Arc>>>;

Levels arcs_by_level(const KnnGraph& graph, Index k, std::span<const double> scaled) {
    std::map<double, std::vector<Arc>, std::greater<>> levels;
    for (Index i = 0; i < graph.n_samples; ++i) {
        for (Index c = 0; c < k; ++c) {
            const Index j = graph.index(i, c);
            levels[std::min(scaled[as_size(i)], scaled[as_size(j)])].push_back(
                Arc::between(graph.distance(i, c), i, j));
        }
    }
    return {levels.begin(), levels.end()};
}

// Lets the level fall, and notes what is absorbed when domes meet.
std::vector<Meeting> flood(const Levels& levels, std::span<const double> scaled,
                           std::span<const Index> founders) {
    DisjointSets components(static_cast<Index>(scaled.size()));
    std::vector<Index> highest(scaled.size(), none);  // per component, the cluster that stands for it
    for (std::size_t c = 0; c < founders.size(); ++c) highest[as_size(founders[c])] = static_cast<Index>(c);
    std::vector<Meeting> meetings;
    for (const auto& [level, arcs] : levels) {
        std::map<Index, std::vector<Index>> met;  // the clusters in components that grow at this level
        const auto clusters_of = [&](Index component) {
            if (const auto known = met.extract(component)) return known.mapped();
            const Index cluster = highest[as_size(component)];
            return cluster == none ? std::vector<Index>{} : std::vector{cluster};
        };
        for (const Arc& arc : arcs) {
            const Index a = components.find(arc.low), b = components.find(arc.high);
            if (a == b) continue;
            std::vector<Index> both = clusters_of(a);
            const std::vector<Index> others = clusters_of(b);
            both.insert(both.end(), others.begin(), others.end());
            components.unite(a, b);
            met[components.find(a)] = std::move(both);
        }
        for (auto& [component, clusters] : met) {
            const auto height = [&, top = level](Index c) {
                return scaled[as_size(founders[as_size(c)])] - top;
            };
            std::sort(clusters.begin(), clusters.end(),
                      [&](Index a, Index b) { return std::pair(-height(a), a) < std::pair(-height(b), b); });
            highest[as_size(component)] = clusters.empty() ? none : clusters.front();
            for (std::size_t i = 1; i < clusters.size(); ++i)
                meetings.push_back({height(clusters[i]), level, clusters[i], clusters.front()});
        }
    }
    std::sort(meetings.begin(), meetings.end());
    return meetings;
}

// The pairs of clusters that arcs join, by their first arc: the highest, of equally high ones the first in
// the order of arcs.
std::vector<std::pair<Index, Index>> borders(const Levels& levels, std::span<const Index> label) {
    std::vector<std::pair<Index, Index>> pairs;
    std::set<std::pair<Index, Index>> known;
    for (auto [level, arcs] : levels) {
        std::sort(arcs.begin(), arcs.end());
        for (const Arc& arc : arcs) {
            const std::pair pair = std::minmax({label[as_size(arc.low)], label[as_size(arc.high)]});
            if (pair.first != pair.second && known.insert(pair).second) pairs.push_back(pair);
        }
    }
    return pairs;
}

}  // namespace

std::vector<Index> merge_low_domes(const KnnGraph& graph, Index k, std::span<const double> scaled,
                                   double min_height, Clustering& clusters) {
    std::vector<Index> founders;
    for (std::size_t i = 0; i < clusters.root.size(); ++i) {
        if (clusters.predecessor[i] == none) founders.push_back(static_cast<Index>(i));
    }
    std::sort(founders.begin(), founders.end(),
              [&](Index a, Index b) { return clusters.label[as_size(a)] < clusters.label[as_size(b)]; });
    const auto levels = arcs_by_level(graph, k, scaled);
    const auto pairs = borders(levels, clusters.label);
    std::vector<Index> owner(founders.size());  // where the samples of each cluster belong by now
    std::iota(owner.begin(), owner.end(), 0);
    for (const Meeting& meeting : flood(levels, scaled, founders)) {
        if (meeting.height >= min_height) break;
        const Index child = meeting.child;
        Index parent = owner[as_size(meeting.winner)];
        for (const auto& [a, b] : pairs) {
            const Index x = owner[as_size(a)], y = owner[as_size(b)];
            if ((x == child) == (y == child)) continue;
            parent = x == child ? y : x;
            break;
        }
        std::replace(owner.begin(), owner.end(), child, parent);
    }
    std::vector<Index> left = owner, number(founders.size());
    std::sort(left.begin(), left.end());
    left.erase(std::unique(left.begin(), left.end()), left.end());
    for (std::size_t c = 0; c < left.size(); ++c) number[as_size(left[c])] = static_cast<Index>(c);
    for (std::size_t i = 0; i < clusters.label.size(); ++i) {
        const Index kept = owner[as_size(clusters.label[i])];
        clusters.label[i] = number[as_size(kept)];
        clusters.root[i] = founders[as_size(kept)];
    }
    for (Index& cluster : left) cluster = founders[as_size(cluster)];
    return left;
}

}  // namespace pathforest::wasm
