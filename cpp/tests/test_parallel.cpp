#include "check.hpp"
#include "pathforest/parallel.hpp"

#include <new>
#include <vector>

namespace pathforest::tests {
namespace {

void each_task_is_done_once() {
    Control control(4);
    for (const Index count : {0, 1, 3, 500}) {
        std::vector<int> done(as_size(count), 0);
        parallel_for(
            count, control, [] { return 0; }, [&](Index i, int&, const Pause&) { ++done[as_size(i)]; });
        CHECK(done == std::vector<int>(as_size(count), 1));
    }
}

// Whichever thread it is thrown on, in a task or while a thread makes ready.
void lack_of_memory_reaches_the_caller() {
    for (const int n_threads : {1, 2, 4}) {
        for (const Index unlucky : {0, 1, 99}) {
            Control control(n_threads);
            const auto work = [=](Index i, int&, const Pause&) {
                if (i == unlucky) throw std::bad_alloc();
            };
            CHECK(throws<std::bad_alloc>([&] { parallel_for(100, control, [] { return 0; }, work); }));
        }
        std::atomic<int> n_states{0};
        const auto make_state = [&] {
            if (++n_states == n_threads) throw std::bad_alloc();
            return 0;
        };
        // The last thread to make ready must find work left, or it may never be needed.
        const auto wait = [&](Index, int&, const Pause& pause) {
            while (n_states < n_threads) {
                pause();
                std::this_thread::yield();
            }
        };
        Control control(n_threads);
        CHECK(throws<std::bad_alloc>([&] { parallel_for(100, control, make_state, wait); }));
    }
}

void an_interruption_ends_the_loop() {
    for (const int n_threads : {1, 2}) {
        Control control(n_threads, [] { return true; });
        const auto endless = [](Index, int&, const Pause& pause) {
            while (true) {
                pause();
                std::this_thread::yield();
            }
        };
        CHECK(throws<Interrupted>([&] { parallel_for(4, control, [] { return 0; }, endless); }));
    }
}

}  // namespace

void test_parallel() {
    each_task_is_done_once();
    lack_of_memory_reaches_the_caller();
    an_interruption_ends_the_loop();
}

}  // namespace pathforest::tests
