#include "check.hpp"
#include "pathforest/parallel.hpp"

#include <ctime>
#include <new>
#include <numeric>
#include <stdexcept>
#include <vector>

#ifdef PATHFOREST_THREADS
    #include <chrono>
    #include <thread>
    #ifndef _WIN32
        #include <sys/wait.h>
        #include <unistd.h>
    #endif
#endif

namespace pathforest::tests {
namespace {

int no_state() { return 0; }

void each_task_is_done_once() {
    Control control(4);
    for (const Index count : {0, 1, 3, 500}) {
        std::vector<int> done(as_size(count), 0);
        parallel_for(count, control, no_state, [&](Index i, int&, const Pause&) { ++done[as_size(i)]; });
        CHECK(done == std::vector<int>(as_size(count), 1));
    }
}

void an_interruption_ends_the_loop() {
    for (const int n_threads : {1, 2}) {
        Control control(n_threads, [](double) { return true; });
        const auto endless = [](Index, int&, const Pause& pause) {
            while (true) pause();
        };
        CHECK(throws<Interrupted>([&] { parallel_for(4, control, no_state, endless); }));
    }
}

void a_loop_says_how_far_it_is() {
    std::vector<double> told;
    Control control(1, [&](double done) {
        told.push_back(done);
        return false;
    });
    const auto until_asked = [&](Index i, int&, const Pause& pause) {
        while (told.size() == as_size(i)) pause();
    };
    parallel_for(4, control, no_state, until_asked);
    CHECK((told == std::vector<double>{0, 0.25, 0.5, 0.75}));
    told.clear();
    control.set_part(0.5, 1);
    parallel_for(2, control, no_state, until_asked);
    CHECK((told == std::vector<double>{0.5, 0.75}));
}

void lack_of_memory_reaches_the_caller() {
    for (const int n_threads : {1, 2, 4}) {
        for (const Index unlucky : {0, 1, 99}) {
            Control control(n_threads);
            const auto work = [=](Index i, int&, const Pause&) {
                if (i == unlucky) throw std::bad_alloc();
            };
            CHECK(throws<std::bad_alloc>([&] { parallel_for(100, control, no_state, work); }));
        }
    }
}

#ifdef PATHFOREST_THREADS

using namespace std::chrono_literals;

// A loop that ends only if as many threads as asked for take part; `work` is called by each of them once.
template <class Work>
void meet(int n_threads, Work work) {
    std::atomic<int> n_present{0};
    Control control(n_threads);
    parallel_for(n_threads, control, no_state, [&](Index, int&, const Pause& pause) {
        ++n_present;
        while (n_present < n_threads) {
            pause();
            std::this_thread::yield();
        }
        work(pause);
    });
}

void meet(int n_threads) {
    meet(n_threads, [](const Pause&) {});
}

void an_exception_on_any_thread_reaches_the_caller() {
    const auto caller = std::this_thread::get_id();
    for (const int n_threads : {2, 4}) {
        for (const bool on_caller : {true, false}) {
            const auto work = [=](const Pause& pause) {
                if ((std::this_thread::get_id() == caller) == on_caller) throw std::bad_alloc();
                while (true) pause();  // until told to stop
            };
            CHECK(throws<std::bad_alloc>([&] { meet(n_threads, work); }));
        }
        // While the last thread makes ready; it must find work left, or it may never be needed.
        std::atomic<int> n_states{0};
        const auto make_state = [&] {
            if (++n_states == n_threads) throw std::bad_alloc();
            return 0;
        };
        const auto wait = [&](Index, int&, const Pause& pause) {
            while (n_states < n_threads) pause();
        };
        Control control(n_threads);
        CHECK(throws<std::bad_alloc>([&] { parallel_for(100, control, make_state, wait); }));
    }
}

// Short loops end before the other threads have woken up. These must not come later and find the loop gone.
void no_thread_comes_after_the_end() {
    std::atomic<int> n_came{0};
    std::atomic<int> n_late{0};
    std::atomic<bool> over{false};
    for (int round = 0; round < 2000; ++round) {
        over = false;
        const auto come = [&](bool is_caller) {
            n_came += !is_caller;
            n_late += over;
        };
        share(4, come, [] {});
        over = true;
        if (round % 100 == 0) std::this_thread::sleep_for(2ms);  // the threads fall asleep
    }
    CHECK(n_late == 0);
    CHECK(n_came < 3 * 2000);  // and the caller did not wait for all of them
}

Index sum_of(Index count, int n_threads) {
    std::vector<Index> numbers(as_size(count));
    Control control(n_threads);
    parallel_for(count, control, no_state, [&](Index i, int&, const Pause&) { numbers[as_size(i)] = i; });
    return std::accumulate(numbers.begin(), numbers.end(), Index{0});
}

void loops_inside_loops_end() {
    std::vector<Index> sums(6);
    Control control(3);
    parallel_for(6, control, no_state,
                 [&](Index i, int&, const Pause&) { sums[as_size(i)] = sum_of(100, 3); });
    CHECK(sums == std::vector<Index>(6, 4950));
}

void callers_do_not_wait_for_one_another() {
    // Each of the two loops inside can end only while the other is under way.
    std::atomic<int> n_inside{0};
    const auto both = [&](const Pause&) {
        ++n_inside;
        while (n_inside < 4) std::this_thread::yield();
    };
    std::thread other([&] { meet(2, both); });
    meet(2, both);
    other.join();
    CHECK(n_inside == 4);

    std::atomic<int> n_right{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t) {
        callers.emplace_back([&] {
            for (int round = 0; round < 300; ++round) n_right += sum_of(50, 1 + round % 4) == 1225;
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(n_right == 4 * 300);
}

void limits_hold_for_the_thread_that_sets_them() {
    const int before = max_threads();
    int elsewhere = 0;
    set_max_threads(before + 2);
    std::thread([&] { elsewhere = max_threads(); }).join();
    CHECK(elsewhere == before);
    CHECK(max_threads() == before + 2);
    set_max_threads(0);
    CHECK(max_threads() == 1);
    set_max_threads(before);
}

    #ifndef _WIN32

// Three threads that kept looking for work would take most of the 0.3 s each.
void threads_use_no_cpu_after_a_loop() {
    meet(4);
    std::this_thread::sleep_for(50ms);
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(300ms);
    CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.01);
}

    #endif
    // The thread sanitizer cannot follow the threads of a forked child.
    #if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)

// Whether `call` returns true in a forked child. One that hangs is ended.
template <class Call>
bool in_child(Call call) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(call() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_meet() {
    meet(3);
    return true;
}

void a_forked_child_has_threads_of_its_own() {
    meet(3);
    CHECK(in_child(can_meet));
    CHECK(in_child([] { return in_child(can_meet); }));
    CHECK(can_meet());
}

void a_child_forked_during_other_loops_has_threads_of_its_own() {
    std::atomic<bool> enough{false};
    std::vector<std::thread> callers;
    for (int t = 0; t < 2; ++t) {
        callers.emplace_back([&] {
            while (!enough) sum_of(50, 3);
        });
    }
    for (int i = 0; i < 20; ++i) CHECK(in_child(can_meet));
    enough = true;
    for (std::thread& caller : callers) caller.join();
}

// As a signal handler may do it, on the thread that asks about signals.
void a_child_forked_inside_a_loop_does_not_wait_for_threads_it_lacks() {
    std::atomic<bool> forked{false};
    std::atomic<int> n_begun{0};
    pid_t child = -1;
    Control control(2, [&](double) {
        if (forked || n_begun < 2) return false;
        child = fork();
        if (child == 0) alarm(20);
        forked = true;
        return false;
    });
    const auto work = [&](Index, int&, const Pause& pause) {
        ++n_begun;
        while (!forked) pause();
    };
    const bool threw = throws<std::runtime_error>([&] { parallel_for(2, control, no_state, work); });
    if (child == 0) _exit(threw && can_meet() ? 0 : 1);
    CHECK(!threw);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

    #endif
#endif

}  // namespace

void test_parallel() {
    each_task_is_done_once();
    an_interruption_ends_the_loop();
    a_loop_says_how_far_it_is();
    lack_of_memory_reaches_the_caller();
#ifdef PATHFOREST_THREADS
    an_exception_on_any_thread_reaches_the_caller();
    no_thread_comes_after_the_end();
    loops_inside_loops_end();
    callers_do_not_wait_for_one_another();
    limits_hold_for_the_thread_that_sets_them();
    #ifndef _WIN32
    threads_use_no_cpu_after_a_loop();
    #endif
    #if !defined(_WIN32) && !defined(__SANITIZE_THREAD__)
    a_forked_child_has_threads_of_its_own();
    a_child_forked_during_other_loops_has_threads_of_its_own();
    a_child_forked_inside_a_loop_does_not_wait_for_threads_it_lacks();
    #endif
#endif
}

}  // namespace pathforest::tests
