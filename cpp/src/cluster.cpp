#include "pathforest/cluster.hpp"

#include "pathforest/heap.hpp"
#include "pathforest/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace pathforest {
namespace {

std::size_t size(Index i) { return static_cast<std::size_t>(i); }

constexpr double lowest_density = 1.0;
constexpr double highest_density = 1000.0;
constexpr double delta = 1.0;  // a dome lower than this is no cluster of its own

constexpr Index samples_between_pauses = 1024;

struct PlateauArc {
    Index source;
    Index target;
    double length;
};

// The arcs that make the graph symmetric between neighbours of equal density, by source, then target.
std::vector<PlateauArc> plateau_arcs(const KnnGraph& graph, Index k, std::span<const double> scaled) {
    std::vector<PlateauArc> arcs;
    for (Index i = 0; i < graph.n_samples; ++i) {
        for (Index c = 0; c < k; ++c) {
            const Index j = graph.index(i, c);
            if (scaled[size(i)] != scaled[size(j)]) continue;
            // j's list is sorted, so i is among its first k exactly if it does not come after the last of
            // them.
            const Neighbour seen_from_j{graph.distance(i, c), i};
            const Neighbour last{graph.distance(j, k - 1), graph.index(j, k - 1)};
            if (seen_from_j > last) arcs.push_back({j, i, seen_from_j.distance});
        }
    }
    std::sort(arcs.begin(), arcs.end(), [](const PlateauArc& a, const PlateauArc& b) {
        return a.source != b.source ? a.source < b.source : a.target < b.target;
    });
    return arcs;
}

// All arcs of one sample: its k nearest neighbours in list order, then its plateau arcs.
class Arcs {
  public:
    Arcs(const KnnGraph& graph, Index k, std::span<const double> scaled)
        : graph_(graph), k_(k), extra_(plateau_arcs(graph, k, scaled)), first_(size(graph.n_samples) + 1, 0) {
        for (const PlateauArc& arc : extra_) ++first_[size(arc.source) + 1];
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    }

    template <class Visit>
    void for_each(Index i, Visit visit) const {
        for (Index c = 0; c < k_; ++c) visit(graph_.index(i, c), graph_.distance(i, c));
        for (std::size_t e = first_[size(i)]; e < first_[size(i) + 1]; ++e)
            visit(extra_[e].target, extra_[e].length);
    }

  private:
    const KnnGraph& graph_;
    Index k_;
    std::vector<PlateauArc> extra_;
    std::vector<std::size_t> first_;
};

// A power of two near the shortest arc with a length. Weighing arcs by it over their length instead of 1
// leaves every ratio of sums as it is, bit for bit, but keeps the weights of very short arcs from
// overflowing.
double unit_of_length(const KnnGraph& graph) {
    double shortest = infinity;
    for (Index i = 0; i < graph.n_samples; ++i) {
        for (Index c = 0; c < graph.k; ++c) {
            if (graph.distance(i, c) == 0) continue;
            shortest = std::min(shortest, graph.distance(i, c));
            break;  // rows ascend
        }
    }
    return shortest == infinity ? 1.0 : std::ldexp(1.0, std::ilogb(shortest));
}

// Sum over clusters of ext / (int + ext), where an arc of length w > 0 weighs 1/w, up to a common factor.
double normalised_cut(const Arcs& arcs, std::span<const Index> label, Index n_clusters, double unit) {
    std::vector<double> inside(size(n_clusters), 0.0);
    std::vector<double> outside(size(n_clusters), 0.0);
    for (Index i = 0; i < static_cast<Index>(label.size()); ++i) {
        const Index own = label[size(i)];
        arcs.for_each(i, [&](Index j, double length) {
            if (length > 0) (label[size(j)] == own ? inside : outside)[size(own)] += unit / length;
        });
    }
    double cut = 0.0;
    for (Index c = 0; c < n_clusters; ++c) {
        const double total = inside[size(c)] + outside[size(c)];
        if (total > 0) cut += outside[size(c)] / total;
    }
    return cut;
}

}  // namespace

DensityKernel::DensityKernel(double largest_arc, bool squared) : squared_(squared) {
    const double psi = largest_arc / 3;
    divisor_ = squared ? 2 * largest_arc / 9 : 2 * psi * psi;
}

double DensityKernel::sum(std::span<const double> distances) const {
    if (divisor_ == 0) return 1.0;
    double total = 0.0;
    for (const double d : distances) total += std::exp(-(squared_ ? d : d * d) / divisor_);
    return total;
}

double largest_arc(const KnnGraph& graph, Index k) {
    double largest = 0.0;
    for (Index i = 0; i < graph.n_samples; ++i) largest = std::max(largest, graph.distance(i, k - 1));
    return largest;
}

std::vector<double> density(const KnnGraph& graph, Index k, bool squared, const Pause& pause) {
    std::vector<double> result(size(graph.n_samples), 1.0);
    if (k == 0) return result;
    const DensityKernel kernel(largest_arc(graph, k), squared);
    for (Index i = 0; i < graph.n_samples; ++i) {
        if (i % samples_between_pauses == 0) pause();
        result[size(i)] = kernel.sum(graph.distances.subspan(at(i, graph.k), size(k)));
    }
    return result;
}

std::vector<double> scale_density(std::span<const double> density, double low, double high) {
    std::vector<double> scaled(density.size(), highest_density);
    if (low == high) return scaled;
    for (std::size_t i = 0; i < density.size(); ++i) {
        scaled[i] = (density[i] - low) / (high - low) * (highest_density - lowest_density) + lowest_density;
    }
    return scaled;
}

std::vector<double> scale_density(std::span<const double> density) {
    const auto [low, high] = std::minmax_element(density.begin(), density.end());
    return scale_density(density, *low, *high);
}

Clustering cluster(const KnnGraph& graph, Index k, std::span<const double> scaled, const Pause& pause) {
    const Index n = graph.n_samples;
    const Arcs arcs(graph, k, scaled);
    Clustering result{std::vector<Index>(size(n), none), std::vector<Index>(size(n), none),
                      std::vector<Index>(size(n), none), std::vector<double>(size(n)), 0.0};
    IndexedHeap<double> queue(n);  // by minus the path value: the highest leaves first
    for (Index i = 0; i < n; ++i) {
        result.cost[size(i)] = scaled[size(i)] - delta;
        queue.set(i, -result.cost[size(i)]);
    }
    Index n_clusters = 0;
    for (Index step = 0; !queue.empty(); ++step) {
        if (step % samples_between_pauses == 0) pause();
        const Index q = queue.pop();
        const Index predecessor = result.predecessor[size(q)];
        if (predecessor == none) {
            result.cost[size(q)] = scaled[size(q)];
            result.root[size(q)] = q;
            result.label[size(q)] = n_clusters++;
        } else {
            result.root[size(q)] = result.root[size(predecessor)];
            result.label[size(q)] = result.label[size(predecessor)];
        }
        arcs.for_each(q, [&](Index u, double) {
            if (result.label[size(u)] != none) return;  // has left the queue
            const double value = std::min(result.cost[size(q)], scaled[size(u)]);
            if (value <= result.cost[size(u)]) return;
            result.cost[size(u)] = value;
            result.predecessor[size(u)] = q;
            queue.set(u, -value);
        });
    }
    result.cut = normalised_cut(arcs, result.label, n_clusters, unit_of_length(graph));
    return result;
}

std::vector<double> search_k(const KnnGraph& graph, Index k_max, bool squared, Control& control) {
    std::vector<double> cuts(size(k_max), infinity);
    std::atomic<Index> tried{
        k_max};  // shrinks to the first k with cut 0, after which nothing is worth trying
    parallel_for(
        k_max, control, [] { return 0; },
        [&](Index i, int&, const Pause& pause) {
            const Index k = i + 1;
            if (k > tried.load()) return;
            cuts[size(i)] = cluster(graph, k, scale_density(density(graph, k, squared, pause)), pause).cut;
            if (cuts[size(i)] != 0) return;
            Index known = tried.load();
            while (k < known && !tried.compare_exchange_weak(known, k)) {
            }
        });
    cuts.resize(size(tried.load()));
    return cuts;
}

}  // namespace pathforest
