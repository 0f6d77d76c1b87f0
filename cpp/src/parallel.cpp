#include "pathforest/parallel.hpp"

#include <vector>

#if defined(_OPENMP) && !defined(_WIN32)
    #include <pthread.h>
#endif

namespace pathforest {

#ifdef _OPENMP

namespace {
std::atomic<bool> forked{false};
    #ifndef _WIN32
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { forked = true; });
    #endif
}  // namespace

bool threads_are_safe() { return !forked.load(std::memory_order_relaxed); }
int max_threads() { return omp_get_max_threads(); }

// Starts as many threads as OpenMP has not started yet, all at once, and lets them end. The memory of their
// stacks is kept by the C library for the next threads, which are OpenMP's. It keeps a pool of threads for
// each thread that calls it, hence a count for each.
bool threads_can_start(int n_threads) {
    thread_local int started = 1;
    if (n_threads <= started) return true;
    std::vector<std::thread> threads;
    std::atomic<bool> all_started{false};
    bool can_start = true;
    try {
        threads.reserve(as_size(n_threads - started));
        while (std::ssize(threads) < n_threads - started)
            threads.emplace_back([&] { all_started.wait(false); });
    } catch (const std::exception&) {  // std::system_error, or std::bad_alloc
        can_start = false;
    }
    all_started = true;
    all_started.notify_all();
    for (std::thread& thread : threads) thread.join();
    if (can_start) started = n_threads;
    return can_start;
}

#else

bool threads_are_safe() { return true; }
bool threads_can_start(int n_threads) { return n_threads == 1; }
int max_threads() { return 1; }

#endif

}  // namespace pathforest
