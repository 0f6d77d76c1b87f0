#include "pathforest/forest/class_costs.hpp"

#include "pathforest/parallel.hpp"
#include "pathforest/ties.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace pathforest {
namespace {

constexpr Index rows_per_task = 1024;  // a few tenths of a millisecond: fewer are not worth a thread

// Everything is within reach.
struct Everything : PolicyDefaults {
    static constexpr bool sees_everything = true;
    double* row;

    explicit Everything(double* row) : row(row) {}

    double limit(Index) const { return infinity; }
    void offer(Index sample, double distance) { row[sample] = distance; }
};
static_assert(Policy<Everything>);

// The samples of a forest class by class, each class in the forest's order.
struct Classes {
    std::vector<Index> begin;  // of each class, and the end
    std::vector<Index> sample;
    std::vector<double> cost;

    explicit Classes(const Rivals& forest)
        : begin(as_size(forest.n_classes) + 1), sample(forest.order.size()), cost(forest.order.size()) {
        for (const Index code : forest.code) ++begin[as_size(code) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<Index> next(begin.begin(), begin.end() - 1);
        for (const Index from : forest.order) {
            const std::size_t place = as_size(next[as_size(forest.code[as_size(from)])]++);
            sample[place] = from;
            cost[place] = forest.cost[as_size(from)];
        }
    }

    // The smallest offer of a class, infinity if it has no sample.
    double smallest(Index code, const double* distances) const {
        double least = infinity;
        for (Index i = begin[as_size(code)]; i < begin[as_size(code) + 1]; ++i)
            least = std::min(least, std::max(cost[as_size(i)], distances[sample[as_size(i)]]));
        return least;
    }

    // The r smallest offers of a class, ascending; distance(i) is that of sample[i].
    template <class Distance>
    void offer(Index code, Distance distance, Index r, double* offers, Index* samples) const {
        Index count = 0;
        for (Index i = begin[as_size(code)]; i < begin[as_size(code) + 1]; ++i) {
            const Index from = sample[as_size(i)];
            const double value = std::max(cost[as_size(i)], distance(i));
            if (count == r && !(value < offers[r - 1])) continue;
            Index place = count < r ? count++ : r - 1;
            for (; place > 0 && value < offers[place - 1]; --place) {  // of equal offers the first stays
                offers[place] = offers[place - 1];
                samples[place] = samples[place - 1];
            }
            offers[place] = value;
            samples[place] = from;
        }
        std::fill(offers + count, offers + r, infinity);
        std::fill(samples + count, samples + r, none);
    }
};

// The offers of a class to one query as far as they are known, with memory kept from one row to the next.
class ClassOffers {
  public:
    ClassOffers(const NearestMembers& nearest, const MemberCosts& forest, const FurtherOffers& further)
        : nearest_(nearest), forest_(forest), further_(further) {}

    // All that are known of a row, ascending.
    const std::vector<double>& collect(Index row) {
        const double* further = further_.offers.row(row);
        ascending_.assign(further, further + further_.offers.width);
        for (Index i = 0; i < n_listed(row); ++i) ascending_.push_back(offer(row, i));
        if (ascending_.size() > few) {
            std::sort(ascending_.begin(), ascending_.end());
        } else {
            insert_each();
        }
        return ascending_;
    }

    // Members that are not listed offer at least the last distance: as much as the largest offer that counts,
    // and more than the smallest, whose rank they could take.
    bool is_settled(Index row, std::size_t n_kept) const {
        if (size(row) <= nearest_.distances.width) return true;
        const double last = nearest_.distances.row(row)[nearest_.distances.width - 1];
        return ascending_.size() >= n_kept && ascending_[n_kept - 1] <= last && ascending_[0] < last;
    }

    // The first rank among those that make the smallest offer.
    Index first(Index row) const {
        const auto n_samples = static_cast<Index>(forest_.cost.size());
        if (ascending_.empty() || ascending_[0] == infinity) return n_samples;
        const double cheapest = ascending_[0];
        Index rank = n_samples;
        if (further_.offers.width > 0 && further_.offers.row(row)[0] == cheapest)
            rank = further_.first[as_size(row)];
        for (Index i = 0; i < n_listed(row) && nearest_.distances.row(row)[i] <= cheapest; ++i) {
            if (offer(row, i) == cheapest)
                rank = std::min(rank, forest_.rank[as_size(nearest_.samples.row(row)[i])]);
        }
        return rank;
    }

  private:
    static constexpr std::size_t few = 64;

    // Lists ascend and most members cost less than their distance, so there is little to move.
    void insert_each() {
        for (std::size_t i = 1; i < ascending_.size(); ++i) {
            const double value = ascending_[i];
            std::size_t place = i;
            for (; place > 0 && ascending_[place - 1] > value; --place)
                ascending_[place] = ascending_[place - 1];
            ascending_[place] = value;
        }
    }

    Index group(Index row) const { return row % static_cast<Index>(nearest_.sizes.size()); }
    Index size(Index row) const { return nearest_.sizes[as_size(group(row))]; }
    Index n_listed(Index row) const { return std::min(size(row), nearest_.distances.width); }

    double offer(Index row, Index i) const {
        const std::size_t member = as_size(nearest_.samples.row(row)[i]);
        if (forest_.code[member] != group(row)) return infinity;
        return std::max(forest_.cost[member], nearest_.distances.row(row)[i]);
    }

    NearestMembers nearest_;
    MemberCosts forest_;
    FurtherOffers further_;
    std::vector<double> ascending_;
};

}  // namespace

template <class T>
void all_distances(const AnyEngine& any, Rows<T> queries, std::span<double> distances, Control& control) {
    visit_with<T>(any, [&](const auto& engine) {
        search_all(
            engine, engine.tile, queries.count, control,
            [&](Index i, auto& query) { engine.ask(queries.row(i), query); },
            [&](Index i) { return Everything(distances.data() + at(i, engine.n_samples())); },
            [](Index, Everything&) {});
    });
}

template void all_distances(const AnyEngine&, Rows<float>, std::span<double>, Control&);
template void all_distances(const AnyEngine&, Rows<double>, std::span<double>, Control&);
template void all_distances(const AnyEngine&, Rows<SparseRow<float>>, std::span<double>, Control&);
template void all_distances(const AnyEngine&, Rows<SparseRow<double>>, std::span<double>, Control&);

namespace {

// Calls answer(query, distances to all samples, memory of its own) for each query; make() gives such memory.
template <class T, class Make, class Answer>
void scan(const AnyEngine& any, Rows<T> queries, Control& control, Make make, Answer answer) {
    const Index n = n_samples(any);
    // So many queries share a pass over the samples; of more, distances would not stay in the cache.
    const Index together = std::clamp<Index>((1 << 16) / n, 1, 32);
    visit_with<T>(any, [&](const auto& engine) {
        struct Scratch {
            std::vector<double> distances;
            std::vector<typename std::remove_cvref_t<decltype(engine)>::Query> queries;
            std::vector<Everything> policies;
            std::invoke_result_t<Make> memory;
        };
        const auto start = [&] { return Scratch{{}, {}, {}, make()}; };
        parallel_for((queries.count + together - 1) / together, control, start,
                     [&](Index task, Scratch& scratch, const Pause& pause) {
                         const Index first = task * together;
                         const Index count = std::min(together, queries.count - first);
                         scratch.distances.resize(at(count, n));
                         scratch.queries.resize(as_size(count));
                         scratch.policies.clear();
                         for (Index i = 0; i < count; ++i) {
                             engine.ask(queries.row(first + i), scratch.queries[as_size(i)]);
                             scratch.policies.emplace_back(scratch.distances.data() + at(i, n));
                         }
                         engine.search(scratch.queries.data(), scratch.policies.data(), count, pause);
                         for (Index i = 0; i < count; ++i)
                             answer(first + i, scratch.distances.data() + at(i, n), scratch.memory);
                     });
    });
}

}  // namespace

template <class T>
void class_offers(const AnyEngine& any, Rows<T> queries, const Rivals& forest, Index r,
                  std::span<double> offers, std::span<Index> samples, Control& control) {
    const Classes classes(forest);
    scan(
        any, queries, control, [] { return 0; },
        [&](Index query, const double* distances, int) {
            for (Index code = 0; code < forest.n_classes; ++code) {
                const std::size_t place = at(query, forest.n_classes, code) * as_size(r);
                classes.offer(
                    code, [&](Index i) { return distances[classes.sample[as_size(i)]]; }, r,
                    offers.data() + place, samples.data() + place);
            }
        });
}

namespace {

// Classes bid for one query after the other with the mean of their smallest offers.
class Auction {
  public:
    Auction(const Classes& classes, const Order& order, const WinRule& rule, Index r)
        : classes_(&classes), order_(&order), rule_(&rule), r_(r), best_(r), bid_(r) {}

    // Returns the class that is left out, or none.
    Index open(Index query) {
        best_.mean = infinity;
        std::fill(best_.offers.begin(), best_.offers.end(), infinity);
        std::fill(best_.samples.begin(), best_.samples.end(), none);
        return rule_->without.empty() ? none : rule_->without[as_size(query)];
    }

    // The smallest offer of a winner is not larger: a mean is not below its smallest term, but for rounding.
    double limit() const { return best_.mean * (1 + 1e-9); }

    // distance(i) is that of the i-th sample of `classes`.
    template <class Distance>
    void bid(Index code, Distance distance) {
        classes_->offer(code, distance, r_, bid_.offers.data(), bid_.samples.data());
        mean_offers(bid_.offers, {&r_, 1}, [&](std::size_t, double mean) { bid_.mean = mean; });
        if (bid_.mean < infinity && is_before(bid_, best_)) std::swap(best_, bid_);
    }

    void write(double* offers, Index* samples) const {
        std::copy(best_.offers.begin(), best_.offers.end(), offers);
        std::copy(best_.samples.begin(), best_.samples.end(), samples);
    }

  private:
    struct Bid {
        std::vector<double> offers;
        std::vector<Index> samples;
        double mean = infinity;

        explicit Bid(Index r) : offers(as_size(r)), samples(as_size(r)) {}
    };

    bool is_before(const Bid& a, const Bid& b) const {
        if (a.mean != b.mean) return a.mean < b.mean;
        if (rule_->nearest_first && a.offers[0] != b.offers[0]) return a.offers[0] < b.offers[0];
        return order_->position[as_size(a.samples[0])] < order_->position[as_size(b.samples[0])];
    }

    const Classes* classes_;
    const Order* order_;
    const WinRule* rule_;
    Index r_;
    Bid best_, bid_;
};

// Samples class by class, so that the members of one can be asked together.
template <class Engine>
class Members {
  public:
    using T = typename Engine::Value;

    Members(const Engine& engine, const Classes& classes)
        : engine_(engine), classes_(classes), blocks_(kept_so(engine, classes)) {
        if (blocks_ != nullptr) return;
        copy_.emplace(rows(engine).data(), engine.n_samples(), engine.n_features(), Order(classes.sample));
        blocks_ = &*copy_;
    }
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    // Lets a class bid for a query; `distances` is memory.
    void bid(Index code, const double* query, std::vector<double>& distances, Auction& auction) const {
        const Index begin = classes_.begin[as_size(code)], end = classes_.begin[as_size(code) + 1];
        const Index first = begin / lanes, last = blocks_for(end);
        const Metric& metric = engine_.metric();
        distances.resize(at(last - first, lanes));
        for (Index b = first; b < last; ++b) {
            engine_.kernels().block(query, blocks_->block(b), blocks_->n_features, metric.terms(), infinity,
                                    distances.data() + at(b - first, lanes));
        }
        auction.bid(
            code, [&](Index i) { return metric.distance(distances[as_size(i - first * lanes)], metric.p); });
    }

  private:
    // The engine's own blocks where it keeps them so.
    static const Blocks<T>* kept_so(const Engine& engine, const Classes& classes) {
        return engine.order().sample == classes.sample ? &engine.blocks() : nullptr;
    }

    static std::vector<T> rows(const Engine& engine) {
        std::vector<T> values;
        values.reserve(at(engine.n_samples(), engine.n_features()));
        typename Engine::Query query;
        for (Index sample = 0; sample < engine.n_samples(); ++sample) {
            engine.ask_sample(sample, query);
            for (const double value : query.values) values.push_back(static_cast<T>(value));
        }
        return values;
    }

    const Engine& engine_;
    const Classes& classes_;
    const Blocks<T>* blocks_;
    std::optional<Blocks<T>> copy_;
};

// What all queries read of a forest.
template <class Engine>
struct Bidders {
    Members<Engine> members;
    Rivals forest;
    std::vector<double> least_cost;  // below each node
};

// What is kept of one query during a search.
struct State {
    Auction auction;
    std::vector<bool> called;  // per class
    std::vector<double> query;
    std::vector<double> distances;  // of those that bid
};

// Calls a class when one of its samples is met that could make it win. Scouts share the state: a class bids
// by exact distances, whatever it was called for.
template <class Engine>
class Caller : public PolicyDefaults {
  public:
    static constexpr bool nearest_first = false;

    Caller(const Bidders<Engine>& bidders, std::shared_ptr<State> state)
        : bidders_(&bidders), state_(std::move(state)) {}

    double limit(Index node) const {
        const double limit = state_->auction.limit();
        return bidders_->least_cost[as_size(node)] > limit ? -1.0 : limit;
    }
    double promise(Index node, double least_distance) const {
        return std::max(bidders_->least_cost[as_size(node)], least_distance);
    }
    bool wants(Index sample) const { return !state_->called[code(sample)]; }
    void offer(Index sample, double distance) {
        if (!wants(sample)) return;
        if (std::max(bidders_->forest.cost[as_size(sample)], distance) > state_->auction.limit()) return;
        state_->called[code(sample)] = true;
        bidders_->members.bid(static_cast<Index>(code(sample)), state_->query.data(), state_->distances,
                              state_->auction);
    }
    const Auction& auction() const { return state_->auction; }

  private:
    std::size_t code(Index sample) const { return as_size(bidders_->forest.code[as_size(sample)]); }

    const Bidders<Engine>* bidders_;
    std::shared_ptr<State> state_;
};
static_assert(Policy<Caller<KdTreeEngine<double>>>);

// Only classes that have a sample near enough to win need to bid.
template <class Engine, class T>
void cheapest_near(const Engine& engine, Rows<T> queries, const Rivals& forest, const Classes& classes,
                   const Auction& auction, Index r, std::span<double> offers, std::span<Index> samples,
                   Control& control) {
    const Bidders<Engine> bidders{
        {engine, classes},
        forest,
        engine.summarise(std::vector<double>(forest.cost.begin(), forest.cost.end()),
                         [](double a, double b) { return std::min(a, b); })};
    search_rows(
        engine, queries, control,
        [&](Index i) {
            State state{auction, std::vector<bool>(as_size(forest.n_classes)), {}, {}};
            state.query.assign(queries.row(i), queries.row(i) + queries.width);
            const Index without = state.auction.open(i);
            if (without != none) state.called[as_size(without)] = true;
            return Caller<Engine>(bidders, std::make_shared<State>(std::move(state)));
        },
        [&](Index i, const Caller<Engine>& caller) {
            caller.auction().write(offers.data() + at(i, r), samples.data() + at(i, r));
        });
}

}  // namespace

template <class T>
void cheapest_class(const AnyEngine& any, Rows<T> queries, const Rivals& forest, const WinRule& rule, Index r,
                    std::span<double> offers, std::span<Index> samples, Control& control) {
    const Classes classes(forest);
    const Order order({forest.order.begin(), forest.order.end()});
    const Auction auction(classes, order, rule, r);
    if constexpr (std::is_floating_point_v<T>) {
        const auto search = [&](const auto& engine) {
            cheapest_near(engine, queries, forest, classes, auction, r, offers, samples, control);
        };
        if (const auto* tree = std::get_if<KdTreeEngine<T>>(&any)) return search(*tree);
        if (const auto* brute = std::get_if<BruteEngine<T>>(&any)) return search(*brute);
    }
    scan(
        any, queries, control, [&] { return auction; },
        [&](Index query, const double* distances, Auction& own) {
            const Index without = own.open(query);
            for (Index code = 0; code < forest.n_classes; ++code) {
                if (code == without || classes.smallest(code, distances) > own.limit()) continue;
                own.bid(code, [&](Index i) { return distances[classes.sample[as_size(i)]]; });
            }
            own.write(offers.data() + at(query, r), samples.data() + at(query, r));
        });
}

template void cheapest_class(const AnyEngine&, Rows<float>, const Rivals&, const WinRule&, Index,
                             std::span<double>, std::span<Index>, Control&);
template void cheapest_class(const AnyEngine&, Rows<double>, const Rivals&, const WinRule&, Index,
                             std::span<double>, std::span<Index>, Control&);
template void cheapest_class(const AnyEngine&, Rows<SparseRow<float>>, const Rivals&, const WinRule&, Index,
                             std::span<double>, std::span<Index>, Control&);
template void cheapest_class(const AnyEngine&, Rows<SparseRow<double>>, const Rivals&, const WinRule&, Index,
                             std::span<double>, std::span<Index>, Control&);
template void class_offers(const AnyEngine&, Rows<float>, const Rivals&, Index, std::span<double>,
                           std::span<Index>, Control&);
template void class_offers(const AnyEngine&, Rows<double>, const Rivals&, Index, std::span<double>,
                           std::span<Index>, Control&);
template void class_offers(const AnyEngine&, Rows<SparseRow<float>>, const Rivals&, Index, std::span<double>,
                           std::span<Index>, Control&);
template void class_offers(const AnyEngine&, Rows<SparseRow<double>>, const Rivals&, Index, std::span<double>,
                           std::span<Index>, Control&);

void class_costs(Rows<double> distances, const Rivals& forest, std::span<const Index> n_conquerors,
                 std::span<double> costs, std::span<Index> first, Control& control) {
    const Index most = *std::max_element(n_conquerors.begin(), n_conquerors.end());
    const std::size_t r = as_size(std::min(most, distances.width));
    std::vector<double> offers(first.size() * r);
    std::vector<Index> samples(offers.size());
    class_offers(AnyEngine(std::in_place_type<RowsEngine<double>>, distances.width), distances, forest,
                 static_cast<Index>(r), offers, samples, control);
    const Order order({forest.order.begin(), forest.order.end()});
    for (std::size_t i = 0; i < first.size(); ++i) {
        mean_offers({offers.data() + i * r, r}, n_conquerors,
                    [&](std::size_t j, double mean) { costs[j * first.size() + i] = mean; });
        const Index cheapest = samples[i * r];
        first[i] = cheapest == none ? distances.width : order.position[as_size(cheapest)];
    }
}

void class_costs(const NearestMembers& nearest, const MemberCosts& forest, const FurtherOffers& further,
                 std::span<const Index> n_conquerors, std::span<double> costs, std::span<Index> first,
                 Control& control) {
    const Index n_rows = nearest.distances.count;
    const auto most = as_size(*std::max_element(n_conquerors.begin(), n_conquerors.end()));
    parallel_for((n_rows + rows_per_task - 1) / rows_per_task, control,
                 [&] { return ClassOffers(nearest, forest, further); },
                 [&](Index task, ClassOffers& offers, const Pause& pause) {
                     const Index end = std::min(n_rows, (task + 1) * rows_per_task);
                     for (Index row = task * rows_per_task; row < end; ++row) {
                         pause();
                         mean_offers(offers.collect(row), n_conquerors, [&](std::size_t i, double mean) {
                             costs[i * as_size(n_rows) + as_size(row)] = mean;
                         });
                         first[as_size(row)] = offers.is_settled(row, most) ? offers.first(row) : none;
                     }
                 });
}

void settle_winners(const SmallestOffers& smallest, const MemberCosts& forest, std::span<const Index> sizes,
                    std::span<Index> conquerors) {
    struct Bidder {
        Index code;
        Index count;
        Index first;  // the sample with its smallest offer
        double total;
    };
    std::vector<Bidder> bidders;
    std::vector<Index> place(sizes.size(), none);  // among the bidders
    const Index most = *std::max_element(sizes.begin(), sizes.end());
    for (Index query = 0; query < smallest.offers.count; ++query) {
        const double* offers = smallest.offers.row(query);
        bidders.clear();
        for (Index i = 0; i < smallest.offers.width; ++i) {
            const Index sample = smallest.samples.row(query)[i];
            const Index code = forest.code[as_size(sample)];
            Index& own = place[as_size(code)];
            if (own == none) {
                own = static_cast<Index>(bidders.size());
                bidders.push_back({code, 0, sample, 0.0});
            }
            Bidder& bidder = bidders[as_size(own)];
            if (bidder.count == sizes[as_size(code)]) continue;
            ++bidder.count;
            bidder.total += offers[i];
        }
        // A sum of larger terms is not smaller, rounding included: the last offer stands for those missing.
        const double last = offers[smallest.offers.width - 1];
        double lowest = infinity;
        Index winner = none;
        bool is_settled = true;
        const auto meet = [&](double mean, const Bidder& bidder, bool is_known) {
            const Index* rank = forest.rank.data();
            if (mean > lowest) return;
            if (mean == lowest && winner != none && rank[bidder.first] > rank[winner]) return;
            lowest = mean;
            winner = bidder.first;
            is_settled = is_known;
        };
        for (const Bidder& bidder : bidders) {
            const Index size = sizes[as_size(bidder.code)];
            double total = bidder.total;
            for (Index i = bidder.count; i < size; ++i) total += last;
            meet(total / static_cast<double>(size), bidder, bidder.count == size);
            place[as_size(bidder.code)] = none;
        }
        double total = 0.0;
        for (Index size = 1; size <= most && !smallest.all; ++size) {  // of classes that are not listed
            total += last;
            is_settled = is_settled && lowest < total / static_cast<double>(size);
        }
        conquerors[as_size(query)] = is_settled && last < infinity ? winner : none;
    }
}

}  // namespace pathforest
