#include "pathforest/membership/search_k.hpp"

#include "pathforest/membership/cluster.hpp"
#include "pathforest/membership/cut.hpp"
#include "pathforest/membership/density.hpp"
#include "pathforest/parallel.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <utility>

namespace pathforest {
namespace {

constexpr Index block_size = 64;  // rows that stay in cache while every k has its turn

// The k from `first` to `last` go through each stage together, so that a row of the graph is fetched once for
// all of them.
struct Batch {
    Index first;
    Index last;
};

// All k up to k_max. The first batches hold no more than were tried before them, as the search may be over
// soon; the last are small again, so that threads finish together.
std::vector<Batch> make_batches(Index k_max, Index n_threads) {
    std::vector<Batch> batches;
    for (Index first = 1; first <= k_max;) {
        const Index share = (k_max - first + 1) / n_threads;
        const Index count =
            std::clamp(std::min(first, share), Index{1}, static_cast<Index>(NormalisedCut::most_together));
        batches.push_back({first, first + count - 1});
        first += count;
    }
    return batches;
}

// Takes batches from densities to cuts, with its memory kept from one to the next.
class BatchSearch {
  public:
    BatchSearch(const KnnGraph& graph, bool squared)
        : graph_(graph), squared_(squared), competition_(graph), cut_(graph) {}

    // The cut of each k in the batch.
    std::vector<double> run(const Batch& batch, const Pause& pause) {
        const auto trials = std::span(trials_).first(as_size(batch.last - batch.first + 1));
        for (std::size_t t = 0; t < trials.size(); ++t) trials[t].k = batch.first + static_cast<Index>(t);
        find_densities(trials, pause);
        std::vector<Partition> partitions;
        for (Trial& trial : trials) {
            find_clusters(trial, pause);
            partitions.push_back({trial.k, trial.n_clusters, trial.label, trial.plateaus});
        }
        return cut_(partitions, pause);
    }

  private:
    struct Trial {
        Index k = 0;
        Index n_clusters = 0;
        std::vector<double> density;
        std::vector<Index> label;
        Plateaus plateaus;
    };

    void find_densities(std::span<Trial> trials, const Pause& pause) {
        std::vector<double> largest(trials.size(), 0.0);
        for (Index i = 0; i < graph_.n_samples; ++i) {
            for (std::size_t t = 0; t < trials.size(); ++t) {
                largest[t] = std::max(largest[t], graph_.distance(i, trials[t].k - 1));
            }
        }
        for (Trial& trial : trials) trial.density.resize(as_size(graph_.n_samples));
        for (Index first = 0; first < graph_.n_samples; first += block_size) {
            pause();
            const Index n_rows = std::min(block_size, graph_.n_samples - first);
            const auto rows = graph_.distances.subspan(at(first, graph_.k), at(n_rows, graph_.k));
            for (std::size_t t = 0; t < trials.size(); ++t) {
                DensityKernel(largest[t], squared_)
                    .sum_rows(rows, graph_.k, trials[t].k,
                              std::span(trials[t].density).subspan(as_size(first), as_size(n_rows)));
            }
        }
    }

    void find_clusters(Trial& trial, const Pause& pause) {
        scale_density(trial.density);
        competition_.run(trial.k, trial.density, pause);
        trial.n_clusters = static_cast<Index>(competition_.roots().size());
        trial.label.clear();
        for (const ClusterCompetition::Node& node : competition_.nodes()) trial.label.push_back(node.label);
        std::swap(trial.plateaus, competition_.plateaus());
    }

    KnnGraph graph_;
    bool squared_;
    std::array<Trial, NormalisedCut::most_together> trials_;
    ClusterCompetition competition_;
    NormalisedCut cut_;
};

}  // namespace

std::vector<double> search_k(const KnnGraph& graph, Index k_max, bool squared, Control& control) {
    const std::vector<Batch> batches = make_batches(k_max, control.n_threads());
    std::vector<double> cuts(as_size(k_max), infinity);
    // Shrinks to the first k with cut 0, after which nothing is worth trying.
    std::atomic<Index> tried{k_max};
    parallel_for(
        static_cast<Index>(batches.size()), control, [&] { return BatchSearch(graph, squared); },
        [&](Index b, BatchSearch& search, const Pause& pause) {
            const Batch& batch = batches[as_size(b)];
            if (batch.first > tried.load()) return;
            const std::vector<double> found = search.run(batch, pause);
            std::copy(found.begin(), found.end(), cuts.begin() + batch.first - 1);
            const auto zero = std::find(found.begin(), found.end(), 0.0);
            if (zero == found.end()) return;
            const Index k = batch.first + static_cast<Index>(zero - found.begin());
            Index known = tried.load();
            while (k < known && !tried.compare_exchange_weak(known, k)) {
            }
        });
    cuts.resize(as_size(tried.load()));
    return cuts;
}

}  // namespace pathforest
