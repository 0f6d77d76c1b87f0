// Parallel loops: threads take blocks of work from one counter and meet only at the end.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace pathforest {

// False in a forked child: OpenMP's threads stay behind in the parent, and waiting for them would hang.
bool threads_are_safe();

// OpenMP's own limit (OMP_NUM_THREADS, threadpoolctl), or 1 in a build without OpenMP.
int max_threads();

// Calls work(i) for i in [0, count), in no particular order; each call writes to its own slots only, so the
// number of threads changes nothing. `make_state()` is called once per thread for scratch space.
template <class MakeState, class Work>
void parallel_for(Index count, Control& control, MakeState make_state, Work work) {
#ifdef _OPENMP
    const int n_threads = threads_are_safe() ? std::min<int>(control.n_threads(), count) : 1;
    if (n_threads > 1) {
        std::atomic<Index> next{0};
        std::atomic<bool> stop{false};
        std::exception_ptr failure;
        std::mutex failure_mutex;
#pragma omp parallel num_threads(n_threads)
        {
            try {
                auto state = make_state();
                while (!stop.load(std::memory_order_relaxed)) {
                    const Index i = next.fetch_add(1, std::memory_order_relaxed);
                    if (i >= count) break;
                    work(i, state);
                    if (omp_get_thread_num() == 0) control.check();
                }
            } catch (...) {
                stop = true;
                const std::scoped_lock lock(failure_mutex);
                if (!failure) failure = std::current_exception();
            }
        }
        if (failure) std::rethrow_exception(failure);
        return;
    }
#endif
    auto state = make_state();
    for (Index i = 0; i < count; ++i) {
        work(i, state);
        control.check();
    }
}

}  // namespace pathforest
