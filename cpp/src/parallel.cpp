#include "pathforest/parallel.hpp"

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

#else

bool threads_are_safe() { return true; }
int max_threads() { return 1; }

#endif

}  // namespace pathforest
