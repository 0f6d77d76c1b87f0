// The engine for many dimensions: every sample for every query, most of them discarded by the fast filter.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/distances/engines/tile.hpp"

namespace pathforest {

template <class T>
class BruteEngine : public FlatEngine {
  public:
    using Value = T;
    static constexpr const char* name = "brute";
    static constexpr int tile = 20 * filter_queries;  // queries that share one pass over the samples

    struct Query {
        std::vector<double> values;
        Index home = 0;  // the panel to start from
    };

    // Where the metric knows nearness by features, near samples are put together: a search that starts at
    // home then finds its nearest early. `keep_order` leaves them as given.
    BruteEngine(const T* X, Index n_samples, Index n_features, Metric metric, bool keep_order,
                Control& control)
        : FlatEngine(keep_order || !metric.in_tree ? given_order(n_samples)
                                                   : spatial_order(X, n_samples, n_features, control)),
          metric_(std::move(metric)), kernels_(find_kernels<T>(metric_.sum)),
          panels_(X, n_samples, n_features, order(), metric_.sum) {}

    Index n_features() const { return panels_.blocks().n_features; }
    const Metric& metric() const { return metric_; }
    const Kernels<T>& kernels() const { return kernels_; }
    const Panels<T>& panels() const { return panels_; }
    const Blocks<T>& blocks() const { return panels_.blocks(); }

    void ask_sample(Index sample, Query& query) const {
        const Index position = order().position[as_size(sample)];
        panels_.blocks().read(position, query.values);
        query.home = position / panel;
    }

    void ask(const T* row, Query& query) const {
        query.values.assign(row, row + n_features());
        query.home = 0;
    }

    template <Policy P>
    void search(const Query* queries, P* policies, Index count, const Pause& pause) const {
        // The filter computes a whole group at once: not worth it for a lone query, nor where nothing will be
        // discarded.
        if constexpr (P::sees_everything) {
            show_everything(queries, policies, count, pause);
        } else if (count > 2 && panels_.filterable()) {
            search_by_panels(queries, policies, count, pause);
        } else {
            for (Index i = 0; i < count; ++i) search_by_blocks(queries[i], policies[i], pause);
        }
    }

  private:
    template <Policy P>
    void search_by_panels(const Query* queries, P* policies, Index count, const Pause& pause) const {
        Tile<BruteEngine, P> queries_together(*this, queries, policies, count);
        Breather breather(pause);
        const std::size_t work = at(count, n_features()) * panel;
        for (Index step = 0; step < n_panels(); ++step) {
            breather(work);
            queries_together.meet((queries[0].home + step) % n_panels());
        }
        queries_together.settle(pause);
    }

    // Panel by panel, so that a panel stays in the cache for all queries.
    template <Policy P>
    void show_everything(const Query* queries, P* policies, Index count, const Pause& pause) const {
        Breather breather(pause);
        for (Index p = 0; p < n_panels(); ++p) {
            const Index end = std::min(n_blocks(), (p + 1) * panel_blocks);
            for (Index i = 0; i < count; ++i) {
                breather(at(n_features(), panel));
                for (Index b = p * panel_blocks; b < end; ++b)
                    panels_.blocks().scan(b, queries[i].values.data(), infinity, kernels_, metric_, order(),
                                          policies[i]);
            }
        }
    }

    template <Policy P>
    void search_by_blocks(const Query& query, P& policy, const Pause& pause) const {
        ReducedLimit reduced(metric_);
        Breather breather(pause);
        for_each_block(policy, [&](Index b, double limit) {
            breather(at(lanes, n_features()));
            panels_.blocks().scan(b, query.values.data(), reduced(limit), kernels_, metric_, order(), policy);
        });
    }

    Metric metric_;
    Kernels<T> kernels_;
    Panels<T> panels_;
};

static_assert(KnowsSamples<BruteEngine<float>> && KnowsSamples<BruteEngine<double>>);

}  // namespace pathforest
