// Parallel loops: threads take blocks of work from one counter and meet only at the end.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>

namespace pathforest {

// The most threads a caller should ask for: what set_max_threads said on this thread; else OMP_NUM_THREADS;
// else the CPUs this thread may run on. 1 in a build without threads.
int max_threads();

// Holds for the calling thread, as in OpenMP: callers that set and restore it do not disturb one another.
void set_max_threads(int n_threads);

// Calls turns(true) here and, at the same time, turns(false) on up to n_threads - 1 threads of the pool, on
// fewer if no more can be started. Returns once every call has ended; a thread that has not begun by the time
// the caller's turns are over never will. `listen` is called now and then while the caller waits. Neither may
// throw.
void share(int n_threads, const std::function<void(bool)>& turns, const std::function<void()>& listen);

// Calls work(i, state, pause) for i in [0, count), in no particular order; each call writes to its own slots
// only, so the number of threads changes nothing. An exception, lack of memory included, ends the loop on all
// threads and reaches the caller. `make_state()` is called once per thread for scratch
// space; work that may take long calls pause() on its way.
template <class MakeState, class Work>
void parallel_for(Index count, Control& control, MakeState make_state, Work work) {
    std::atomic<Index> next{0};
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    const auto guarded = [&](auto call) {
        try {
            call();
        } catch (...) {
            if (!stop.exchange(true)) failure = std::current_exception();  // the first failure counts
        }
    };
    const auto turns = [&](bool is_caller) {
        const Pause pause(is_caller ? &control : nullptr, &stop);
        guarded([&] {
            Index i = next++;
            if (i >= count) return;  // a thread that comes too late needs no scratch space
            auto state = make_state();
            for (; i < count; i = next++) {
                if (is_caller) control.set_done(static_cast<double>(i) / count);
                work(i, state, pause);
                pause();
            }
        });
    };
    const auto listen = [&] {
        if (!stop) guarded([&] { control.check(); });
    };
    share(std::min<int>(control.n_threads(), count), std::ref(turns), std::ref(listen));
    if (failure) std::rethrow_exception(failure);
}

}  // namespace pathforest
