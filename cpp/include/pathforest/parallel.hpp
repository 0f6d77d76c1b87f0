// Parallel loops: threads take blocks of work from one counter and meet only at the end.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#ifdef _OPENMP
    #include <omp.h>
#endif

namespace pathforest {

// False in a forked child: OpenMP's threads stay behind in the parent, and waiting for them would hang.
bool threads_are_safe();

// False if there is no memory for so many threads. OpenMP would end the process.
bool threads_can_start(int n_threads);

// OpenMP's own limit (OMP_NUM_THREADS, threadpoolctl), or 1 in a build without OpenMP.
int max_threads();

// Where the calling thread waits for the others: asleep, but listening for Ctrl-C.
class Finish {
  public:
    // Wakes the waiting thread to see whether it may go on.
    void announce() {
        {
            const std::scoped_lock lock(mutex_);
        }  // not between its look and its sleep
        changed_.notify_one();
    }

    template <class Done>
    void await(Done done, const Pause& pause) {
        for (int turn = 0; turn < turns_before_sleep && !done(); ++turn) std::this_thread::yield();
        while (!sleep(done)) pause();
    }

  private:
    // About a millisecond on an idle machine. Threads end nearly together where tasks are short, as in small
    // problems: most waits are over sooner than falling asleep and being woken would take.
    static constexpr int turns_before_sleep = 2000;

    template <class Done>
    bool sleep(Done done) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::milliseconds(50), done);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
};

// Calls work(i, state, pause) for i in [0, count), in no particular order; each call writes to its own slots
// only, so the number of threads changes nothing. An exception, lack of memory included, ends the loop on all
// threads and reaches the caller. `make_state()` is called once per thread for scratch
// space; work that may take long calls pause() on its way.
template <class MakeState, class Work>
void parallel_for(Index count, Control& control, MakeState make_state, Work work) {
    std::atomic<Index> next{0};
    std::atomic<Index> finished{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    Finish finish;
    const auto take_turns = [&](Control* own_control) {
        const Pause pause(own_control, &stop);
        try {
            auto state = make_state();
            for (Index i = next++; i < count; i = next++) {
                work(i, state, pause);
                if (++finished == count) finish.announce();
                pause();
            }
            if (own_control) finish.await([&] { return finished == count || stop; }, pause);
        } catch (...) {
            // The first failure counts; it is set before the others are told to stop.
            {
                const std::scoped_lock lock(failure_mutex);
                if (!failure) failure = std::current_exception();
                stop = true;
            }
            finish.announce();
        }
    };
#ifdef _OPENMP
    const int n_threads = threads_are_safe() ? std::min<int>(control.n_threads(), count) : 1;
    if (n_threads > 1 && threads_can_start(n_threads)) {
    #pragma omp parallel num_threads(n_threads)
        take_turns(omp_get_thread_num() == 0 ? &control : nullptr);
    } else
#endif
    {
        take_turns(&control);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace pathforest
