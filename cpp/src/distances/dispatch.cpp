// Chooses the kernels built for the widest instruction set this machine has.
#include "pathforest/distances/kernels.hpp"

#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace pathforest {

#define PATHFOREST_DECLARE_KERNELS(isa)                                                                      \
    namespace isa {                                                                                          \
    Kernels<float> exact_kernels_float(Sum sum);                                                             \
    Kernels<double> exact_kernels_double(Sum sum);                                                           \
    Filters<float> filters_float(Sum sum);                                                                   \
    Filters<double> filters_double(Sum sum);                                                                 \
    std::remove_pointer_t<DensityRows> density_rows;                                                         \
    }
PATHFOREST_DECLARE_KERNELS(baseline)
#ifdef PATHFOREST_X86
PATHFOREST_DECLARE_KERNELS(avx2)
PATHFOREST_DECLARE_KERNELS(avx512)
#endif
#undef PATHFOREST_DECLARE_KERNELS

namespace {

struct KernelSet {
    const char* name;
    Kernels<float> (*exact_float)(Sum);
    Kernels<double> (*exact_double)(Sum);
    Filters<float> (*filters_float)(Sum);
    Filters<double> (*filters_double)(Sum);
    DensityRows density_rows;
};

#define PATHFOREST_KERNEL_SET(isa)                                                                           \
    KernelSet {                                                                                              \
        #isa, isa::exact_kernels_float, isa::exact_kernels_double, isa::filters_float, isa::filters_double,  \
            isa::density_rows                                                                                \
    }

// PATHFOREST_SIMD=baseline|avx2 lowers the choice, so that every build can be tested on one machine.
KernelSet choose() {
#ifdef PATHFOREST_X86
    const char* wish = std::getenv("PATHFOREST_SIMD");
    const std::string_view most = wish ? wish : "avx512";
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (avx512 && most == "avx512") return PATHFOREST_KERNEL_SET(avx512);
    if (avx2 && most != "baseline") return PATHFOREST_KERNEL_SET(avx2);
#endif
    return PATHFOREST_KERNEL_SET(baseline);
}
#undef PATHFOREST_KERNEL_SET

const KernelSet& chosen() {
    static const KernelSet set = choose();
    return set;
}

}  // namespace

const char* simd_level() { return chosen().name; }

template <>
Kernels<float> find_kernels<float>(Sum sum) {
    return chosen().exact_float(sum);
}

template <>
Kernels<double> find_kernels<double>(Sum sum) {
    return chosen().exact_double(sum);
}

DensityRows find_density_rows() { return chosen().density_rows; }

template <>
Filters<float> find_filters<float>(Sum sum) {
    return chosen().filters_float(sum);
}

template <>
Filters<double> find_filters<double>(Sum sum) {
    return chosen().filters_double(sum);
}

}  // namespace pathforest
