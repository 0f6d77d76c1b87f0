// NumPy arrays in and out, and Ctrl-C: what every binding file needs.
#pragma once

#include "checks.hpp"
#include "pathforest/control.hpp"
#include "pathforest/limits.hpp"
#include "pathforest/ties.hpp"
#include "pathforest/types.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#ifndef _WIN32
    #include <unistd.h>
#endif

namespace pathforest {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Result = nb::ndarray<nb::numpy, T>;

template <class T>
std::span<const T> as_span(const Vector<T>& array) {
    return {array.data(), array.size()};
}

// Hands a buffer over to NumPy without a copy.
template <class T>
Result<T> to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    T* data = owned->data();
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    owned.release();
    return Result<T>(data, shape, owner);
}

template <class T>
Result<T> to_numpy(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

using ForestArrays = std::tuple<Result<double>, Result<Index>, Result<Index>, Result<Index>>;

inline ForestArrays to_numpy(Forest&& forest) {
    return ForestArrays(to_numpy(std::move(forest.cost)), to_numpy(std::move(forest.predecessor)),
                        to_numpy(std::move(forest.root)), to_numpy(std::move(forest.order)));
}

using TreeArrays = std::tuple<Result<Index>, Result<Index>, Result<double>>;

inline TreeArrays as_arrays(const std::vector<Arc>& arcs) {
    std::vector<Index> source(arcs.size());
    std::vector<Index> target(arcs.size());
    std::vector<double> weight(arcs.size());
    for (std::size_t a = 0; a < arcs.size(); ++a) {
        source[a] = arcs[a].low;
        target[a] = arcs[a].high;
        weight[a] = arcs[a].weight;
    }
    return TreeArrays(to_numpy(std::move(source)), to_numpy(std::move(target)), to_numpy(std::move(weight)));
}

// Neighbour lists as they come from Python; the arrays must outlive the result.
inline KnnGraph as_graph(const Matrix<double>& distances, const Matrix<Index>& indices) {
    if (distances.shape(0) != indices.shape(0) || distances.shape(1) != indices.shape(1)) {
        throw std::invalid_argument("distances and indices differ in shape");
    }
    const Index n_samples = as_count(distances.shape(0));
    const std::span<const Index> all_indices{indices.data(), indices.size()};
    require_indices(all_indices, n_samples, "indices");
    require_ascending_rows({distances.data(), distances.size()}, distances.shape(1));
    return {{distances.data(), distances.size()},
            all_indices,
            n_samples,
            as_count(distances.shape(1), "neighbours")};
}

// Lets other Python threads run for a while.
class WithoutGil {
  public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

#ifdef _WIN32
    ~WithoutGil() { PyEval_RestoreThread(state_); }
#else
    // Up to 3.13, Python ends a thread that comes back while the interpreter shuts down, and glibc does so by
    // an exception that may be neither passed on from here nor forgotten. The thread sleeps instead until the
    // process ends, as later versions have it.
    ~WithoutGil() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            while (true) ::pause();
        }
    }
#endif

  private:
    PyThreadState* state_;
};

// Python's identity of its main thread: set when the module is imported, and in a forked child, whose one
// thread is the main one.
inline std::atomic<unsigned long> main_thread{0};

// Asks no Python code, which may let go of the GIL: while the interpreter shuts down, a thread that wants it
// back ends by an exception through the frames of C++ above.
inline bool on_main_thread() { return PyThread_get_thread_ident() == main_thread; }

// What to call with the share of work that is done, a few times a second while the main thread computes; may
// be null. Only the main thread uses it.
inline PyObject* watcher = nullptr;

// False if it raised.
inline bool tell_watcher(double done) {
    if (!watcher) return true;
    PyObject* answer = PyObject_CallFunction(watcher, "d", done);
    Py_XDECREF(answer);
    return answer != nullptr;
}

// Runs work(control) without the GIL. Signals are looked at a few times a second; a handler that raises
// (Ctrl-C) ends the work, and its exception goes on to the caller. Python runs handlers on its main thread
// only; other threads do not ask, which would be the end of them while the interpreter shuts down.
template <class Work>
void run_interruptibly(int n_threads, Work work) {
    std::function<bool(double)> interrupted;
    if (on_main_thread()) {
        interrupted = [](double done) {
            const nb::gil_scoped_acquire gil;
            return PyErr_CheckSignals() != 0 || !tell_watcher(done);
        };
    }
    Control control(std::max(1, n_threads), std::move(interrupted));
    try {
        const WithoutGil no_gil;
        work(control);
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

void bind_engine(nb::module_& m);
void bind_class_costs(nb::module_& m);
void bind_competition(nb::module_& m);
void bind_clustering(nb::module_& m);
void bind_subset_lists(nb::module_& m);
void bind_tree_builder(nb::module_& m);

}  // namespace pathforest
