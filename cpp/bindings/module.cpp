#include "arrays.hpp"
#include "pathforest/distances/kernels.hpp"
#include "pathforest/distances/metrics.hpp"
#include "pathforest/parallel.hpp"

#ifndef _WIN32
    #include <pthread.h>
#endif

// Found by name, not through Python: threadpoolctl sets limits on libraries in this way.
extern "C" {
NB_EXPORT int pathforest_get_num_threads() { return pathforest::max_threads(); }
NB_EXPORT void pathforest_set_num_threads(int n_threads) { pathforest::set_max_threads(n_threads); }
}

NB_MODULE(_core, m) {
    using namespace pathforest;
    m.doc() = "The kernels of pathforest; use the Python modules above them.";
    // Objects still alive when the interpreter ends are freed with it; that is not worth a message.
    nb::set_leak_warnings(false);
    main_thread =
        nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
#ifndef _WIN32
    pthread_atfork(nullptr, nullptr, [] { main_thread = PyThread_get_thread_ident(); });
#endif
    bind_engine(m);
    bind_class_costs(m);
    bind_competition(m);
    bind_clustering(m);
    bind_subset_lists(m);
    bind_tree_builder(m);
    m.def("max_threads", &max_threads, "The most threads to use here; 1 in a build without threads.");
    m.def(
        "set_watcher",
        [](nb::object call) {
            PyObject* before = watcher;
            watcher = call.is_none() ? nullptr : call.release().ptr();
            Py_XDECREF(before);
        },
        nb::arg("call").none(),
        "Call a function with the share of a loop that is done, a few times a second while the main thread "
        "computes; None stops that. If it raises, the computation ends with that exception. To be set from "
        "the main thread.");
    m.def("simd_level", &simd_level, "The instruction set the kernels use on this machine.");
    m.attr("METRICS_KD_TREE") = nb::tuple(nb::cast(metric_names(true)));
    m.attr("METRICS_BRUTE") = nb::tuple(nb::cast(metric_names(false)));
}
