// How long work asks whether it should stop, and says how far it is: the caller hands in a question, the
// kernels ask it now and then.
#pragma once

#include "pathforest/limits.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <utility>

namespace pathforest {

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// Belongs to the calling thread; other threads learn of an interruption through a Pause.
class Control {
  public:
    // `interrupted` gets the share of the work that is done, as far as the loop at hand knows.
    explicit Control(int n_threads = 1, std::function<bool(double)> interrupted = {})
        : n_threads_(n_threads), interrupted_(std::move(interrupted)) {}

    int n_threads() const { return n_threads_; }

    // Loops to come are this part of the work.
    void set_part(double begin, double end) {
        begin_ = done_ = begin;
        end_ = end;
    }

    // Share of the loop.
    void set_done(double share) { done_ = begin_ + share * (end_ - begin_); }

    // Cheap enough for every few microseconds of work: asks at most ten times a second.
    void check() {
        if (!interrupted_) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_asked_ < std::chrono::milliseconds(100)) return;
        last_asked_ = now;
        if (interrupted_(done_)) throw Interrupted{};
    }

  private:
    int n_threads_;
    std::function<bool(double)> interrupted_;
    double begin_ = 0, end_ = 1, done_ = 0;
    std::chrono::steady_clock::time_point last_asked_ = std::chrono::steady_clock::now();
};

// Loops over samples that cost little each pause once in so many.
inline constexpr Index samples_between_pauses = 1024;
static_assert(longest_step % samples_between_pauses == 0);

// What a loop calls now and then, on whatever thread it runs: throws once the work is to stop.
class Pause {
  public:
    explicit Pause(Control* control, const std::atomic<bool>* stop = nullptr)
        : control_(control), stop_(stop) {}

    void operator()() const {
        if (stop_ && stop_->load(std::memory_order_relaxed)) throw Interrupted{};
        if (control_) control_->check();
    }

  private:
    Control* control_;  // nullptr on every thread but the caller's
    const std::atomic<bool>* stop_;
};

// Pauses every few milliseconds of work, measured in feature differences, each of which may cost a power.
class Breather {
  public:
    explicit Breather(const Pause& pause) : pause_(pause) {}

    void operator()(std::size_t work) {
        work_ += work;
        if (work_ < std::size_t{1} << 18) return;
        pause_();
        work_ = 0;
    }

  private:
    const Pause& pause_;
    std::size_t work_ = 0;
};

}  // namespace pathforest
