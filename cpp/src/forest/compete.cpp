#include "pathforest/forest/compete.hpp"

#include "pathforest/graph/adjacency.hpp"
#include "pathforest/graph/originals.hpp"
#include "pathforest/heap.hpp"
#include "pathforest/ties.hpp"

#include <cmath>
#include <numeric>

namespace pathforest {
namespace {

// Prototypes cost nothing and carry an arc before all others.
constexpr PathCost prototype_cost{0.0, {0.0, none, none}};

// What both competitions share: the costs so far and the rule by which an offer wins.
class Contest {
  public:
    Contest(Index n_samples, std::span<const Index> prototypes, const Membership& membership)
        : membership_(membership), cost_(as_size(n_samples)), predecessor_(as_size(n_samples), none),
          turn_(as_size(n_samples), none) {
        for (const Index prototype : prototypes) cost_[as_size(prototype)] = prototype_cost;
    }

    Index n_samples() const { return static_cast<Index>(cost_.size()); }
    const PathCost& cost(Index i) const { return cost_[as_size(i)]; }
    bool has_left(Index i) const { return turn_[as_size(i)] != none; }

    // Leaving the queue makes a sample's cost final.
    void leave(Index i) {
        turn_[as_size(i)] = static_cast<Index>(left_.size());
        left_.push_back(i);
    }

    // q, which has left the queue, offers u, which has not, a path; true if u takes it. A smaller pair
    // (value, arc that set it) wins; of equal pairs the source that left first keeps the sample.
    bool offer(Index q, Index u, double distance) {
        PathCost pair = std::max(cost_[as_size(q)], PathCost::of(Arc::between(distance, q, u)));
        pair.value *= membership_.values[as_size(membership_.source_side ? q : u)];
        PathCost& current = cost_[as_size(u)];
        if (pair > current) return false;
        if (pair == current) {
            const Index holder = predecessor_[as_size(u)];
            if (holder == none || turn_[as_size(holder)] <= turn_[as_size(q)]) return false;
        }
        current = pair;
        predecessor_[as_size(u)] = q;
        return true;
    }

    Forest finish() const {
        const std::size_t n = cost_.size();
        Forest forest{std::vector<double>(n), predecessor_, std::vector<Index>(n), std::vector<Index>(n)};
        for (const Index i : left_) {
            const Index q = predecessor_[as_size(i)];
            forest.root[as_size(i)] = q == none ? i : forest.root[as_size(q)];
        }
        for (std::size_t i = 0; i < n; ++i) forest.cost[i] = cost_[i].value;
        std::iota(forest.order.begin(), forest.order.end(), Index{0});
        std::sort(forest.order.begin(), forest.order.end(), [this](Index a, Index b) {
            const auto by_cost = cost_[as_size(a)] <=> cost_[as_size(b)];
            return by_cost != 0 ? by_cost < 0 : a < b;
        });
        return forest;
    }

  private:
    Membership membership_;
    std::vector<PathCost> cost_;
    std::vector<Index> predecessor_;
    std::vector<Index> turn_;  // when the sample left the queue, none if it has not
    std::vector<Index> left_;  // samples in the order they left
};

Adjacency tree_adjacency(std::span<const Arc> tree, Index n_samples) {
    return Adjacency(n_samples, [&](auto visit) {
        for (const Arc& arc : tree) {
            visit(arc.low, {arc.weight, arc.high});
            visit(arc.high, {arc.weight, arc.low});
        }
    });
}

// Competition over the complete graph without looking at all of it.
//
// When q leaves the queue it makes offers to every u whose list holds q. Offers along arcs outside u's list
// come after its `floor`, the list's last arc times the membership; a u whose cost does not is settled by
// lists alone. Any other u waits in the queue under its floor, which is the least it could cost. Only when it
// reaches the top is it worth a search over the samples that have left: from then on it is `awake`, its cost
// is exact, and later leavers search for the awake samples within whose reach they lie. So each pair is
// looked at once at most, and most pairs never.
//
// A copy is `outdone` and offers nothing if a sample with the same features, a lower index and the same cost,
// by an arc that does not come later, has left before it. Of the equally long arcs from the two to any u that
// of the other comes first, so the pair it offers is as large in value and does not come later, and it left
// first. So few distinct rows make few offers.
template <KnowsSamples Engine>
class CompleteCompetition {
  public:
    CompleteCompetition(const Engine& engine, const KnnGraph& graph, std::span<const Index> prototypes,
                        const Membership& membership, Control& control)
        : engine_(engine), membership_(membership), pause_(&control),
          original_(find_originals(engine, graph)), outdoer_(original_.size(), none),
          contest_(engine.n_samples(), prototypes, membership), listed_by_(reversed_lists(graph)),
          queue_(engine.n_samples()), floor_(as_size(engine.n_samples())),
          least_factor_(*std::min_element(membership.values.begin(), membership.values.end())),
          left_cost_(as_size(engine.n_samples()), infinity), reach_(as_size(engine.n_samples()), -1.0) {
        if (graph.k < graph.n_samples - 1) {
            for (Index u = 0; u < graph.n_samples; ++u) {
                floor_[as_size(u)] = floor_of(u, graph);
            }
        }
        least_left_cost_ = engine.summarise(left_cost_, least);
        most_reach_ = engine.summarise(reach_, most);
    }

    Forest run() {
        for (Index u = 0; u < contest_.n_samples(); ++u) requeue(u);
        while (!queue_.empty()) {
            pause_();
            const Index top = queue_.top();
            if (is_settled(top) || awake(top)) {
                leave(queue_.pop());
            } else {
                wake(top);
            }
        }
        return contest_.finish();
    }

  private:
    static constexpr auto least = [](double a, double b) { return std::min(a, b); };
    static constexpr auto most = [](double a, double b) { return std::max(a, b); };

    // The smallest factor an offer to u can carry.
    double factor(Index u) const {
        return membership_.source_side ? least_factor_ : membership_.values[as_size(u)];
    }

    // An arc outside u's list comes after the list's last one, and so does the pair that any path ending in
    // it passes on: its value is larger, or its arc is. Times the factor, larger values may round to the same
    // product. Their arcs may be any, shorter ones included: a path whose cost was multiplied up before.
    PathCost floor_of(Index u, const KnnGraph& graph) const {
        if (graph.k == 0) return prototype_cost;
        const double length = graph.distance(u, graph.k - 1);
        const double product = length * factor(u);
        if (std::nextafter(length, infinity) * factor(u) == product) return {product, prototype_cost.arc};
        return {product, Arc::between(length, u, graph.index(u, graph.k - 1))};
    }

    bool is_settled(Index u) const { return contest_.cost(u) <= floor_[as_size(u)]; }
    bool awake(Index u) const { return reach_[as_size(u)] >= 0; }

    // The farthest a source can be and still improve u; the margin is for rounding in the product with the
    // factor.
    double reach_of(Index u) const {
        constexpr double margin = 1 + 4 * std::numeric_limits<double>::epsilon();
        return (contest_.cost(u).value + std::numeric_limits<double>::denorm_min()) / factor(u) * margin;
    }

    void requeue(Index u) {
        queue_.set(u, is_settled(u) || awake(u) ? contest_.cost(u) : floor_[as_size(u)]);
    }

    void set_reach(Index u, double reach) {
        if (reach_[as_size(u)] == reach) return;
        n_awake_ += (reach >= 0) - (reach_[as_size(u)] >= 0);
        reach_[as_size(u)] = reach;
        engine_.refresh(u, reach_, most, most_reach_);
    }

    void take_offer(Index q, Index u, double distance) {
        if (contest_.has_left(u) || !contest_.offer(q, u, distance)) return;
        if (awake(u)) set_reach(u, is_settled(u) ? -1.0 : reach_of(u));
        requeue(u);
    }

    // Shows u the samples that have left.
    struct Sources : PolicyDefaults {
        CompleteCompetition* competition;
        Index u;

        Sources(CompleteCompetition* competition, Index u) : competition(competition), u(u) {}

        double limit(Index node) const {
            const double cheapest = competition->least_left_cost_[as_size(node)];
            const double reach = competition->reach_of(u);
            return cheapest == infinity || cheapest > reach ? -1.0 : reach;
        }
        void offer(Index q, double distance) {
            if (competition->left_cost_[as_size(q)] < infinity) competition->contest_.offer(q, u, distance);
        }
    };
    static_assert(Policy<Sources>);

    // Shows the leaver q the samples that are awake.
    struct Awake : PolicyDefaults {
        CompleteCompetition* competition;
        Index q;

        Awake(CompleteCompetition* competition, Index q) : competition(competition), q(q) {}

        double limit(Index node) const {
            const double reach = competition->most_reach_[as_size(node)];
            return competition->contest_.cost(q).value > reach ? -1.0 : reach;
        }
        void offer(Index u, double distance) {
            if (competition->awake(u)) competition->take_offer(q, u, distance);
        }
    };
    static_assert(Policy<Awake>);

    template <Policy P>
    void search(Index sample, P policy) {
        engine_.ask_sample(sample, query_);
        engine_.search(&query_, &policy, 1, pause_);
    }

    void wake(Index u) {
        search(u, Sources(this, u));
        set_reach(u, is_settled(u) ? -1.0 : reach_of(u));
        requeue(u);
    }

    bool is_outdone(Index q) const {
        const Index p = outdoer_[as_size(original_[as_size(q)])];
        if (p == none || p > q) return false;
        const auto factor = [this](Index i) { return membership_.values[as_size(i)]; };
        return contest_.cost(p).value == contest_.cost(q).value && contest_.cost(p) <= contest_.cost(q) &&
               (!membership_.source_side || factor(p) == factor(q));
    }

    void leave(Index q) {
        contest_.leave(q);
        set_reach(q, -1.0);
        if (is_outdone(q)) return;
        outdoer_[as_size(original_[as_size(q)])] = q;
        left_cost_[as_size(q)] = contest_.cost(q).value;
        engine_.refresh(q, left_cost_, least, least_left_cost_);
        for (const Neighbour& listing : listed_by_.of(q)) take_offer(q, listing.sample, listing.distance);
        if (n_awake_ > 0) search(q, Awake(this, q));
    }

    const Engine& engine_;
    Membership membership_;
    Pause pause_;
    std::vector<Index> original_;
    std::vector<Index> outdoer_;  // per original, of the samples with its features the last to make offers
    Contest contest_;
    Adjacency listed_by_;  // per sample, who has it in its list
    IndexedHeap<PathCost> queue_;
    std::vector<PathCost> floor_;  // arcs outside u's list offer more; infinite where the list holds all
    double least_factor_;
    std::vector<double> left_cost_;        // infinity until the sample has left and made offers
    std::vector<double> least_left_cost_;  // per node of the engine
    std::vector<double> reach_;            // negative unless awake
    std::vector<double> most_reach_;       // per node of the engine
    Index n_awake_ = 0;
    typename Engine::Query query_;
};

}  // namespace

// A sample costs the largest arc on its cheapest path to a prototype. In a tree each path leads upwards for a
// while, then downwards. So two passes find all of them: samples are taken off that have one arc left, and
// offer to the sample at its other end; then they come back in reverse order, and take offers from there. An
// arc counts by its place, as they ascend.
Forest follow_tree(std::span<const Arc> tree, std::span<const Index> prototypes) {
    if (prototypes.empty()) return {};
    const auto n_arcs = static_cast<Index>(tree.size()), n_samples = n_arcs + 1;
    struct Sample {
        Index n_arcs = 0;  // that are left
        Index arcs = 0;    // the exclusive or of their places: of one arc, its place
        Index worst;       // the largest arc of the cheapest path so far; n_arcs: no path
        Index predecessor = none;
        Index root = none;
    };
    std::vector<Sample> samples(as_size(n_samples), Sample{.worst = n_arcs});
    std::vector<Index> ends(tree.size());  // the exclusive or of both
    for (Index a = 0; a < n_arcs; ++a) {
        const Index low = tree[as_size(a)].low, high = tree[as_size(a)].high;
        ends[as_size(a)] = low ^ high;
        for (const Index end : {low, high}) {
            ++samples[as_size(end)].n_arcs;
            samples[as_size(end)].arcs ^= a;
        }
    }
    for (const Index prototype : prototypes) {
        samples[as_size(prototype)].worst = none;  // before all arcs
        samples[as_size(prototype)].root = prototype;
    }
    // A path that comes back to where it started is not cheaper.
    const auto offer = [&](Index from, Index to, Index arc) {
        const Sample& source = samples[as_size(from)];
        Sample& target = samples[as_size(to)];
        const Index worst = std::max(source.worst, arc);
        if (worst >= target.worst) return;
        target.worst = worst;
        target.predecessor = from;
        target.root = source.root;
    };
    const auto other_end = [&](Index sample, Index arc) { return ends[as_size(arc)] ^ sample; };
    std::vector<Index> taken_off;
    taken_off.reserve(as_size(n_samples));
    for (Index i = 0; i < n_samples; ++i) {
        if (samples[as_size(i)].n_arcs == 1) taken_off.push_back(i);
    }
    for (std::size_t next = 0; next < tree.size(); ++next) {
        // A tree is taken off as a whole; here there is a cycle, and beside it a piece that is complete.
        if (next == taken_off.size() || samples[as_size(taken_off[next])].n_arcs != 1) return {};
        const Index i = taken_off[next], arc = samples[as_size(i)].arcs, other = other_end(i, arc);
        offer(i, other, arc);
        samples[as_size(other)].arcs ^= arc;
        if (--samples[as_size(other)].n_arcs == 1) taken_off.push_back(other);
    }
    for (std::size_t next = tree.size(); next-- > 0;) {
        const Index i = taken_off[next], arc = samples[as_size(i)].arcs;
        offer(other_end(i, arc), i, arc);
    }
    Forest forest{std::vector<double>(as_size(n_samples)), std::vector<Index>(as_size(n_samples)),
                  std::vector<Index>(as_size(n_samples)), std::vector<Index>(as_size(n_samples))};
    std::vector<Index> place(as_size(n_samples), 0);  // in the order, by arc
    for (Index i = 0; i < n_samples; ++i) {
        const Sample& sample = samples[as_size(i)];
        forest.cost[as_size(i)] = sample.worst == none ? 0.0 : tree[as_size(sample.worst)].weight;
        forest.predecessor[as_size(i)] = sample.predecessor;
        forest.root[as_size(i)] = sample.root;
        ++place[as_size(sample.worst + 1)];
    }
    std::exclusive_scan(place.begin(), place.end(), place.begin(), Index{0});
    for (Index i = 0; i < n_samples; ++i)
        forest.order[as_size(place[as_size(samples[as_size(i)].worst + 1)]++)] = i;
    return forest;
}

Forest compete_tree(std::span<const Arc> tree, std::span<const Index> prototypes,
                    const Membership& membership, Control& control) {
    const auto n_samples = static_cast<Index>(membership.values.size());
    const Adjacency arcs = tree_adjacency(tree, n_samples);
    Contest contest(n_samples, prototypes, membership);
    IndexedHeap<PathCost> queue(n_samples);
    for (const Index prototype : prototypes) queue.set(prototype, contest.cost(prototype));
    for (Index step = 0; !queue.empty(); ++step) {
        if (step % samples_between_pauses == 0) control.check();
        const Index q = queue.pop();
        contest.leave(q);
        for (const Neighbour& arc : arcs.of(q)) {
            const Index u = arc.sample;
            if (!contest.has_left(u) && contest.offer(q, u, arc.distance)) queue.set(u, contest.cost(u));
        }
    }
    return contest.finish();
}

Forest compete_complete(const AnyEngine& any, const KnnGraph& graph, std::span<const Index> prototypes,
                        const Membership& membership, Control& control) {
    return visit_samples(any, [&](const auto& engine) {
        return CompleteCompetition(engine, graph, prototypes, membership, control).run();
    });
}

}  // namespace pathforest
