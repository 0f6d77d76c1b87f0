// A scan's search for its own samples: a distance is the same from both ends, so each block of estimates
// is computed once and serves the samples on either side.
#pragma once

#include "pathforest/distances/engines/pairs_of_parts.hpp"
#include "pathforest/distances/engines/settler.hpp"
#include "pathforest/parallel.hpp"

#include <atomic>
#include <bit>

namespace pathforest {

// The panels sit on a ring. Each meets itself and then, as queries, those after it, halfway round: first the
// next one, then twice as many in every round, so that no limit is older than half of what has been seen.
// During a round a panel's seekers belong to one task; what may matter on the other side is sent there as
// letters.
//
// Where samples are in parts, pairs of two parts are found on the other side, too: their limits are part of
// how far that looks.
//
// P is a policy whose limit depends on the node only where distances tie.
template <class Engine, Policy P>
class OwnSamples {
  public:
    using T = typename Engine::Value;

    // Whether what is computed once outweighs the mail, there are panels for all threads, and the seekers,
    // which all live at once, take little memory.
    static bool is_worth_it(const Engine& engine, Index n_wanted, Index n_threads) {
        const std::size_t bytes =
            sizeof(Seeker) + sizeof(Candidate) * (3 * as_size(n_wanted) + 2 * room(n_wanted));
        return engine.panels().filterable() && engine.n_panels() >= std::max<Index>(8, 2 * n_threads) &&
               at(engine.n_panels(), engine.n_features()) >= 32 * as_size(n_wanted) &&
               bytes * as_size(engine.n_samples()) <= most_bytes;
    }

    // start(position) gives the policy of a sample.
    template <class Start>
    OwnSamples(const Engine& engine, Control& control, PairsOfParts* parts, Start start)
        : engine_(engine), parts_(parts), panels_(engine.panels()), control_(control),
          n_panels_(engine.n_panels()), between_samples_(panels_.between_samples()),
          loses_no_tie_(engine.panel_node(engine.order().position[0] / panel)), limits_(at(n_panels_, panel)),
          by_differences_(as_size(n_panels_)), is_alone_(as_size(n_panels_)) {
        seekers_.reserve(as_size(engine.n_samples()));
        typename Engine::Query query;
        for (Index position = 0; position < engine.n_samples(); ++position) {
            const P policy = start(position);
            n_wanted_ = policy.n_wanted();
            engine.ask_sample(engine.sample_at(position), query);
            seekers_.push_back({policy, Scout<P>(policy, engine.metric(), room(policy.n_wanted())),
                                panels_.by_products(query.values)});
        }
        for (Index p = 0; p < n_panels_; ++p) note_limits(p);
        if (parts_) {
            parts_->is_complete = true;
            pairs_.resize(as_size(n_panels_));
            note_parts();
        }
    }

    // Calls finish(position, policy) when a policy has been offered all that matters.
    template <class Finish>
    void search(Finish finish) {
        control_.set_part(0, 0);
        for_each_panel([&](Index p, Scratch& scratch, const Pause& pause) { meet(p, 0, 0, scratch, pause); });
        hand_over_pairs();
        const Index farthest = n_panels_ / 2;
        for (Index first = 1; first <= farthest; first *= 2) {
            const Index last = std::min(2 * first - 1, farthest);
            for_each_panel([&](Index p, Scratch&, const Pause&) { note_limits(p); });
            mail_.assign(at(n_panels_, last - first + 1), {});
            // Some times what is to be expected where distances differ.
            most_letters_ = panel * (1 + 4 * as_size(n_wanted_) / as_size(first));
            const double before = static_cast<double>(first - 1) / farthest;
            const double after = static_cast<double>(last) / farthest;
            control_.set_part(before, after);
            for_each_panel(
                [&](Index p, Scratch& scratch, const Pause& pause) { meet(p, first, last, scratch, pause); });
            hand_over_pairs();
            control_.set_part(after, after);  // nearly all of a round is meeting
            for_each_panel([&](Index p, Scratch& scratch, const Pause& pause) {
                read_mail(p, first, last, scratch, pause);
            });
        }
        for_each_panel([&](Index p, Scratch& scratch, const Pause& pause) {
            for (Index position = p * panel; position < end_of(p); ++position) {
                pause();
                settle(position, scratch);
                finish(position, seekers_[as_size(position)].policy);
            }
        });
    }

  private:
    static constexpr std::size_t most_bytes = std::size_t{1} << 29;
    static constexpr int words = panel / 64;
    // Half a panel: on many features more would not stay in the second-level cache.
    static constexpr Index queries_together = 22 * filter_queries;

    using Pair = PairsOfParts::Pair;
    static constexpr std::size_t most_pairs = 16 * panel;  // from one panel in a round

    struct Seeker {
        P policy;
        Scout<P> scout;
        Estimate by_products;
    };

    // A sample that may matter to another.
    struct Letter {
        Index receiver;
        Index sender;
        T value;
    };

    // From one panel to another. Where many distances tie there would be too many letters: the receivers then
    // search the panel themselves.
    struct Mail {
        std::vector<Letter> letters;
        bool is_too_much = false;
    };

    struct Scratch {
        explicit Scratch(const Engine& engine) : settle(engine) {}

        Settler<Engine> settle;
        typename Engine::Query query;
        std::vector<T> values = std::vector<T>(at(queries_together, panel));
        std::vector<std::uint64_t> hits = std::vector<std::uint64_t>(as_size(queries_together) * words);
        std::vector<std::uint64_t> other_hits = hits;
        std::vector<T> reach = std::vector<T>(as_size(queries_together));
        std::vector<T> other_reach;  // of mail, and then of each part, if that has a row
        std::vector<char> has_row;   // per part
        std::vector<const T*> other_reach_of = std::vector<const T*>(as_size(queries_together));
        std::vector<T> shift = reach;
        std::vector<T> packed;  // queries in groups, feature by feature
        std::vector<const T*> groups;
        std::vector<std::vector<Letter>> inbox;  // per receiver
    };

    static std::size_t room(Index n_wanted) { return 32 + 3 * as_size(n_wanted); }

    Index end_of(Index p) const { return std::min(engine_.n_samples(), (p + 1) * panel); }

    template <class Work>
    void for_each_panel(Work work) {
        parallel_for(n_panels_, control_, [&] { return Scratch(engine_); }, work);
    }

    // What the other side of the coming round goes by.
    void note_limits(Index p) {
        by_differences_[as_size(p)] = false;
        for (Index position = p * panel; position < end_of(p); ++position) {
            Seeker& seeker = seekers_[as_size(position)];
            const double limit = seeker.scout.reach(loses_no_tie_);
            limits_[as_size(position)] = limit;
            if (!(limit > 16 * seeker.by_products.absolute)) by_differences_[as_size(p)] = true;
        }
    }

    // Shows the seekers of a panel those `first` to `last` steps ahead, and writes to the samples in these.
    void meet(Index p, Index first, Index last, Scratch& scratch, const Pause& pause) {
        for_each_part(p, scratch, [&](Index begin, Index end) {
            for (Index step = first; step <= last; ++step) {
                if (2 * step == n_panels_ && p >= step) continue;  // the panel across has met this one
                pause();
                const Index other = (p + step) % n_panels_;
                Mail* sent = step == 0 ? nullptr : &mail(p, step, first, last);
                if (sent && is_alone_[as_size(other)]) sent->is_too_much = true;
                meet_panel(begin, end, other, sent && !sent->is_too_much ? sent : nullptr,
                           parts_ ? &pairs_[as_size(p)] : nullptr, scratch);
            }
        });
    }

    // Calls visit(begin, end) for the parts of a panel, packed as queries.
    template <class Visit>
    void for_each_part(Index p, Scratch& scratch, Visit visit) const {
        for (Index begin = p * panel; begin < end_of(p); begin += queries_together) {
            const Index end = std::min(end_of(p), begin + queries_together);
            pack(begin, end, scratch);
            visit(begin, end);
        }
    }

    Mail& mail(Index p, Index step, Index first, Index last) {
        return mail_[at(p, last - first + 1, step - first)];
    }

    void pack(Index begin, Index end, Scratch& scratch) const {
        const std::size_t size = at(engine_.n_features(), filter_queries);
        const std::size_t n_groups = (as_size(end - begin) + filter_queries - 1) / filter_queries;
        scratch.packed.resize(size * n_groups);
        scratch.groups.clear();
        for (std::size_t g = 0; g < n_groups; ++g) {
            T* group = scratch.packed.data() + g * size;
            scratch.groups.push_back(group);
            for (Index q = 0; q < filter_queries; ++q) {
                const T* row =
                    panels_.row(std::min(begin + static_cast<Index>(g) * filter_queries + q, end - 1));
                for (Index j = 0; j < engine_.n_features(); ++j) group[at(j, filter_queries, q)] = row[j];
            }
        }
    }

    void meet_panel(Index begin, Index end, Index p, Mail* mail, std::vector<Pair>* pairs, Scratch& scratch) {
        const bool by_differences = by_differences_[as_size(begin / panel)] || by_differences_[as_size(p)];
        bool matters = mail || pairs;
        for (Index position = begin; position < end; ++position) {
            const double limit = seekers_[as_size(position)].scout.reach(engine_.panel_node(p));
            matters = matters || limit >= 0;
            const std::size_t q = as_size(position - begin);
            scratch.reach[q] = limit < 0 ? -std::numeric_limits<T>::infinity()
                                         : bounds(by_differences, position).template reach<T>(limit);
            scratch.shift[q] = by_differences ? T{0} : panels_.shifts(begin / panel)[position % panel];
        }
        if (!matters) return;
        if (mail || pairs) note_other_reach(begin, end, p, by_differences, mail, pairs, scratch);
        const OtherSide<T> other{scratch.other_reach_of.data(), scratch.shift.data(),
                                 scratch.other_hits.data()};
        panels_.filter(by_differences, p, scratch.groups, scratch.reach.data(),
                       mail || pairs ? &other : nullptr, scratch.values.data(), scratch.hits.data());
        for (Index position = begin; position < end; ++position)
            report(position, begin, p, by_differences, scratch);
        if (pairs) note_pairs(begin, end, p, by_differences, *pairs, scratch);
        if (mail) write(begin, end, p, *mail, scratch);
    }

    // How far the other side looks: for letters, and for pairs with a query of each part.
    void note_other_reach(Index begin, Index end, Index p, bool by_differences, const Mail* mail,
                          const std::vector<Pair>* pairs, Scratch& scratch) const {
        const Estimate& between = by_differences ? panels_.by_differences() : between_samples_;
        const Index n_parts = pairs ? parts_->n_parts : 0;
        scratch.other_reach.resize(at(n_parts + 1, panel));
        scratch.has_row.assign(as_size(n_parts), false);
        T* const of_mail = scratch.other_reach.data();
        for (Index lane = 0; lane < panel; ++lane)
            of_mail[lane] = mail ? between.template reach<T>(limits_[at(p, panel, lane)])
                                 : -std::numeric_limits<T>::infinity();
        std::fill(scratch.other_reach_of.begin(), scratch.other_reach_of.end(),
                  of_mail);  // groups are padded
        for (Index position = begin; pairs && position < end; ++position) {
            const Index part = parts_->part[as_size(position)];
            T* const of_part = of_mail + at(part + 1, panel);
            scratch.other_reach_of[as_size(position - begin)] = of_part;
            if (std::exchange(scratch.has_row[as_size(part)], true)) continue;
            for (Index other = p * panel; other < (p + 1) * panel; ++other) {
                const auto lane = other % panel;
                of_part[lane] = other < engine_.n_samples()
                                    ? std::max(of_mail[lane], part_reach(by_differences, part, other))
                                    : of_mail[lane];
            }
        }
    }

    // How far apart a query of a part and the sample at a position matter as a pair.
    T part_reach(bool by_differences, Index part, Index position) const {
        return part_reach_[by_differences][at(part, parts_->n_parts, parts_->part[as_size(position)])];
    }

    void note_parts() {
        ReducedLimit reduced(engine_.metric());
        for (const bool by_differences : {false, true}) {
            const Estimate& between = by_differences ? panels_.by_differences() : between_samples_;
            part_reach_[by_differences].clear();
            for (const double limit : parts_->limits)
                part_reach_[by_differences].push_back(limit < 0 ? -std::numeric_limits<T>::infinity()
                                                                : between.template reach<T>(reduced(limit)));
        }
    }

    void note_pairs(Index begin, Index end, Index p, bool by_differences, std::vector<Pair>& pairs,
                    const Scratch& scratch) {
        for (Index position = begin; position < end && !too_many_pairs_; ++position) {
            const std::size_t q = as_size(position - begin);
            const Index part = parts_->part[as_size(position)];
            for_each_hit(q, scratch.other_hits, scratch, [&](Index lane, T value) {
                const Index other = p * panel + lane;
                if (other < engine_.n_samples() &&
                    value <= part_reach(by_differences, part, other) - scratch.shift[q])
                    pairs.push_back({position, other, bounds(by_differences, position).least(value)});
            });
            if (pairs.size() > most_pairs) too_many_pairs_ = true;
        }
    }

    void hand_over_pairs() {
        if (!parts_) return;
        std::vector<Pair> all;
        for (std::vector<Pair>& pairs : pairs_) {
            all.insert(all.end(), pairs.begin(), pairs.end());
            pairs.clear();
        }
        if (too_many_pairs_) {
            parts_->is_complete = false;
            parts_ = nullptr;
        } else {
            parts_->take(all);
            note_parts();
        }
    }

    const Estimate& bounds(bool by_differences, Index position) const {
        return by_differences ? panels_.by_differences() : seekers_[as_size(position)].by_products;
    }

    // Calls visit(lane, value) for a query's hits.
    template <class Visit>
    static void for_each_hit(std::size_t q, const std::vector<std::uint64_t>& hits, const Scratch& scratch,
                             Visit visit) {
        for (std::size_t word = 0; word < words; ++word) {
            for (std::uint64_t bits = hits[q * words + word]; bits != 0; bits &= bits - 1) {
                const auto lane = static_cast<Index>(word * 64) + std::countr_zero(bits);
                visit(lane, scratch.values[q * panel + as_size(lane)]);
            }
        }
    }

    void report(Index position, Index begin, Index p, bool by_differences, Scratch& scratch) {
        const std::size_t q = as_size(position - begin);
        T reach = scratch.reach[q];
        for_each_hit(q, scratch.hits, scratch, [&](Index lane, T value) {
            if (!(value <= reach) || p * panel + lane >= engine_.n_samples()) return;
            const Estimate& estimate = bounds(by_differences, position);
            meet_sample(position, p * panel + lane, estimate.least(value), estimate.most(value), scratch);
            reach =
                estimate.template reach<T>(seekers_[as_size(position)].scout.reach(engine_.panel_node(p)));
        });
    }

    void write(Index begin, Index end, Index p, Mail& mail, const Scratch& scratch) const {
        for (Index position = begin; position < end && !mail.is_too_much; ++position) {
            const std::size_t q = as_size(position - begin);
            for_each_hit(q, scratch.other_hits, scratch, [&](Index lane, T value) {
                const Index receiver = p * panel + lane;
                if (receiver < engine_.n_samples() &&
                    value <= scratch.other_reach[as_size(lane)] - scratch.shift[q])
                    mail.letters.push_back({receiver, position, value});
            });
            mail.is_too_much = mail.letters.size() > most_letters_;
        }
    }

    // Reads what the panels `first` to `last` steps behind have sent, receiver by receiver.
    void read_mail(Index p, Index first, Index last, Scratch& scratch, const Pause& pause) {
        std::vector<std::vector<Letter>>& inbox = scratch.inbox;
        inbox.resize(panel);
        // Among ties the lower index wins, so whoever searches panels had better see those in ascending
        // order.
        for (Index step = last; step >= first; --step) {
            pause();
            const Index sender = (p - step + n_panels_) % n_panels_;
            const Mail& received = mail(sender, step, first, last);
            if (received.is_too_much) {
                is_alone_[as_size(p)] = true;
                for_each_part(p, scratch, [&](Index begin, Index end) {
                    meet_panel(begin, end, sender, nullptr, nullptr, scratch);
                });
            } else {
                for (const Letter& letter : received.letters)
                    inbox[as_size(letter.receiver % panel)].push_back(letter);
            }
        }
        for (std::vector<Letter>& letters : inbox) {
            for (const Letter& letter : letters) {
                const Index sender = letter.sender / panel;
                const bool by_differences = by_differences_[as_size(p)] || by_differences_[as_size(sender)];
                const Estimate& estimate = bounds(by_differences, letter.sender);
                const double least = estimate.least(letter.value);
                if (least <= seekers_[as_size(letter.receiver)].scout.reach(engine_.panel_node(sender)))
                    meet_sample(letter.receiver, letter.sender, least, estimate.most(letter.value), scratch);
            }
            letters.clear();
        }
    }

    // Apart from the loops over hits, which are many times as frequent.
    [[gnu::noinline]] void meet_sample(Index position, Index other, double least, double most,
                                       Scratch& scratch) {
        Seeker& seeker = seekers_[as_size(position)];
        seeker.scout.meet(engine_.sample_at(other), other, least, most);
        if (!seeker.scout.is_full()) return;
        settle(position, scratch);
        seeker.scout.restart(seeker.policy);
    }

    void settle(Index position, Scratch& scratch) {
        Seeker& seeker = seekers_[as_size(position)];
        panels_.blocks().read(position, scratch.query.values);
        scratch.settle(seeker.scout, scratch.query.values.data(), seeker.policy);
    }

    const Engine& engine_;
    PairsOfParts* parts_;  // may be nullptr
    const Panels<T>& panels_;
    Control& control_;
    Index n_panels_;
    Index n_wanted_ = 0;
    Estimate between_samples_;
    Index loses_no_tie_;                // the node of sample 0, whose limit is the largest
    std::vector<Seeker> seekers_;       // by position
    std::vector<double> limits_;        // by position, reduced, as noted before the round
    std::vector<char> by_differences_;  // per panel: whether products are too coarse for one of its samples
    std::vector<char> is_alone_;        // per panel: whether it got too much mail
    std::vector<Mail> mail_;            // by sender, then step
    std::size_t most_letters_ = 0;
    std::array<std::vector<T>, 2> part_reach_;  // by products and by differences, per pair of parts
    std::vector<std::vector<Pair>> pairs_;      // by first panel
    std::atomic<bool> too_many_pairs_ = false;
};

}  // namespace pathforest
