// Parallel loops: threads take blocks of work from one counter and meet only at the end.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#ifdef _OPENMP
    #include <omp.h>
#endif

namespace pathforest {

// False in a forked child: OpenMP's threads stay behind in the parent, and waiting for them would hang.
bool threads_are_safe();

// OpenMP's own limit (OMP_NUM_THREADS, threadpoolctl), or 1 in a build without OpenMP.
int max_threads();

// Calls work(i, state, pause) for i in [0, count), in no particular order; each call writes to its own slots
// only, so the number of threads changes nothing. `make_state()` is called once per thread for scratch
// space; work that may take long calls pause() on its way.
template <class MakeState, class Work>
void parallel_for(Index count, Control& control, MakeState make_state, Work work) {
    std::atomic<Index> next{0};
    std::atomic<Index> finished{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto take_turns = [&](Control* own_control) {
        const Pause pause(own_control, &stop);
        try {
            auto state = make_state();
            for (Index i = next++; i < count; i = next++) {
                work(i, state, pause);
                ++finished;
                pause();
            }
            // The caller's thread goes on listening for Ctrl-C while the others finish.
            while (own_control && finished < count) {
                pause();
                std::this_thread::yield();
            }
        } catch (...) {
            // The first failure counts; it is set before the others are told to stop.
            const std::scoped_lock lock(failure_mutex);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
    };
#ifdef _OPENMP
    const int n_threads = threads_are_safe() ? std::min<int>(control.n_threads(), count) : 1;
    if (n_threads > 1) {
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
