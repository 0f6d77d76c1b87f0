#include "arrays.hpp"
#include "pathforest/distances/kernels.hpp"
#include "pathforest/distances/metrics.hpp"
#include "pathforest/parallel.hpp"

NB_MODULE(_core, m) {
    using namespace pathforest;
    m.doc() = "The kernels of pathforest; use the Python modules above them.";
    // Objects still alive when the interpreter ends are freed with it; that is not worth a message.
    nb::set_leak_warnings(false);
    bind_engine(m);
    bind_class_costs(m);
    bind_competition(m);
    bind_clustering(m);
    bind_subset_lists(m);
    bind_tree_builder(m);
    m.def("max_threads", &max_threads, "The number of threads OpenMP allows; 1 in a build without it.");
    m.def("simd_level", &simd_level, "The instruction set the kernels use on this machine.");
    m.attr("METRICS_TREE") = nb::tuple(nb::cast(metric_names(true)));
    m.attr("METRICS_BRUTE") = nb::tuple(nb::cast(metric_names(false)));
}
