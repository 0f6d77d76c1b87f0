// The threads behind parallel loops: a pool for the whole process, and how many of them a caller may ask for.
#include "pathforest/parallel.hpp"

#ifdef PATHFOREST_THREADS

    #include <array>
    #include <chrono>
    #include <climits>
    #include <condition_variable>
    #include <cstdlib>
    #include <memory>
    #include <mutex>
    #include <stdexcept>
    #include <string_view>
    #include <thread>
    #include <vector>

    #ifdef __linux__
        #include <sched.h>
    #endif
    #ifndef _WIN32
        #include <pthread.h>
    #endif

namespace pathforest {
namespace {

// Where threads wait for one another: awake for a moment, because the loops of a small fit follow one another
// within microseconds; then asleep.
class Bell {
  public:
    // To be called after a change that another thread may wait for.
    void ring() {
        if (n_asleep_ == 0) return;
        {
            const std::scoped_lock lock(mutex_);
        }  // not between the look of a thread and its sleep
        changed_.notify_all();
    }

    template <class Ready>
    void wait(Ready ready) {
        if (comes_soon(ready)) return;
        std::unique_lock lock(mutex_);
        ++n_asleep_;
        changed_.wait(lock, ready);
        --n_asleep_;
    }

    // False if nothing came in that time.
    template <class Ready>
    bool wait_for(std::chrono::milliseconds time, Ready ready) {
        if (comes_soon(ready)) return true;
        std::unique_lock lock(mutex_);
        ++n_asleep_;
        const bool came = changed_.wait_for(lock, time, ready);
        --n_asleep_;
        return came;
    }

  private:
    static constexpr auto moment = std::chrono::microseconds(500);

    template <class Ready>
    static bool comes_soon(Ready ready) {
        const auto start = std::chrono::steady_clock::now();
        do {
            if (ready()) return true;
            std::this_thread::yield();
        } while (std::chrono::steady_clock::now() - start < moment);
        return false;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<int> n_asleep_{0};
};

class Worker;

// The threads that one call of share has got hold of.
struct Team {
    const std::function<void(bool)>& turns;
    std::vector<Worker*> workers;

    // The caller wakes two threads and each of them two more, so that no thread spends long on it.
    // The caller has place 0, workers[i] has place i + 1.
    void wake_next(std::size_t place) const;
};

// A thread of the pool. It lives as long as the process, so there is no moment at which it could be gone too
// soon.
class Worker {
  public:
    // Throws if there is no memory for a thread.
    static Worker* start() {
        auto worker = std::make_unique<Worker>();
        std::thread([&own = *worker] { own.run(); }).detach();
        return worker.release();
    }

    void offer(const Team& team, std::size_t place) {
        team_ = &team;
        place_ = place;
        state_ = State::offered;
    }

    void wake() { bell_.ring(); }

    // True once the team can do without this thread: the offer is withdrawn, or the work is over.
    // False if it is still at work after a while.
    bool leave() {
        auto offered = State::offered;
        if (state_.compare_exchange_strong(offered, State::idle)) return true;
        return bell_.wait_for(std::chrono::milliseconds(50), [&] { return state_ == State::idle; });
    }

    Worker* next_idle = nullptr;

  private:
    enum class State { idle, offered, at_work };

    void run() {
        while (true) {
            bell_.wait([&] { return state_ == State::offered; });
            auto offered = State::offered;
            if (!state_.compare_exchange_strong(offered, State::at_work)) continue;  // withdrawn just now
            team_->wake_next(place_);
            team_->turns(false);
            state_ = State::idle;  // from here on the team may be gone
            bell_.ring();
        }
    }

    std::atomic<State> state_{State::idle};
    const Team* team_ = nullptr;
    std::size_t place_ = 0;
    Bell bell_;
};

void Team::wake_next(std::size_t place) const {
    for (std::size_t i = 2 * place; i < std::min(2 * place + 2, workers.size()); ++i) workers[i]->wake();
}

// Threads that are not in use. Those used last are handed out first: they may still be awake.
class Pool {
  public:
    // As many as there is memory for; started if too few are idle.
    std::vector<Worker*> take(std::size_t wanted) {
        std::vector<Worker*> workers;
        try {
            workers.reserve(wanted);
            while (workers.size() < wanted) {
                Worker* idle = take_idle();
                workers.push_back(idle ? idle : Worker::start());
            }
        } catch (const std::exception&) {  // std::system_error, or std::bad_alloc
        }
        return workers;
    }

    void give_back(const std::vector<Worker*>& workers) {
        const std::scoped_lock lock(mutex_);
        for (Worker* worker : workers) {
            worker->next_idle = first_idle_;
            first_idle_ = worker;
        }
    }

  private:
    Worker* take_idle() {
        const std::scoped_lock lock(mutex_);
        Worker* worker = first_idle_;
        if (worker) first_idle_ = worker->next_idle;
        return worker;
    }

    std::mutex mutex_;
    Worker* first_idle_ = nullptr;
};

// Never freed: its threads may still be running while the process ends.
Pool* pool = new Pool;
std::atomic<int> n_forks{0};

    #ifndef _WIN32
// A forked child has none of its parent's threads; they, and locks that they held, are forgotten.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
    pool = new Pool;
    ++n_forks;
});
    #endif

// The first number of a list such as "4,2", read like OpenMP does: nullptr, and what makes no sense, mean no
// limit.
int read_limit(const char* text) {
    if (!text) return INT_MAX;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    while (*end == ' ' || *end == '\t') ++end;
    return value >= 1 && value <= INT_MAX && (*end == '\0' || *end == ',') ? static_cast<int>(value)
                                                                           : INT_MAX;
}

int usable_cpus() {
    #ifdef __linux__
    std::array<cpu_set_t, 16> sets{};  // 16,384 CPUs
    if (sched_getaffinity(0, sizeof sets, sets.data()) == 0) return CPU_COUNT_S(sizeof sets, sets.data());
    #endif
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

thread_local int own_limit = INT_MAX;

}  // namespace

int max_threads() {
    static const int wanted = read_limit(std::getenv("OMP_NUM_THREADS"));
    static const int most = read_limit(std::getenv("OMP_THREAD_LIMIT"));
    if (own_limit != INT_MAX) return std::min(own_limit, most);
    return std::min(wanted != INT_MAX ? wanted : usable_cpus(), most);
}

void set_max_threads(int n_threads) { own_limit = std::max(1, n_threads); }

void share(int n_threads, const std::function<void(bool)>& turns, const std::function<void()>& listen) {
    if (n_threads <= 1) return turns(true);
    const int forks_before = n_forks;
    const Team team{turns, pool->take(as_size(n_threads - 1))};
    for (std::size_t i = 0; i < team.workers.size(); ++i) team.workers[i]->offer(team, i + 1);
    team.wake_next(0);
    turns(true);
    for (Worker* worker : team.workers) {
        // A signal handler may have forked on this thread.
        while (n_forks == forks_before && !worker->leave()) listen();
    }
    if (n_forks != forks_before) {
        throw std::runtime_error("the process was forked during this computation, and the child lacks the "
                                 "threads that had begun it; start it again in the child");
    }
    pool->give_back(team.workers);
}

}  // namespace pathforest

#else

namespace pathforest {

int max_threads() { return 1; }
void set_max_threads(int) {}
void share(int, const std::function<void(bool)>& turns, const std::function<void()>&) { turns(true); }

}  // namespace pathforest

#endif
