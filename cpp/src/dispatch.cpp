// Chooses the kernels built for the widest instruction set this machine has.
#include "pathforest/kernels.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <type_traits>

namespace pathforest {

#define PATHFOREST_DECLARE_KERNELS(isa)                                                                      \
    namespace isa {                                                                                          \
    Kernels<float> exact_kernels_float(Sum sum);                                                             \
    Kernels<double> exact_kernels_double(Sum sum);                                                           \
    decltype(Kernels<float>::filter) filter_kernel_float(Sum sum);                                           \
    decltype(Kernels<double>::filter) filter_kernel_double(Sum sum);                                         \
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
    decltype(Kernels<float>::filter) (*filter_float)(Sum);
    decltype(Kernels<double>::filter) (*filter_double)(Sum);
    DensityRows density_rows;
};

#define PATHFOREST_KERNEL_SET(isa)                                                                           \
    KernelSet {                                                                                              \
        #isa, isa::exact_kernels_float, isa::exact_kernels_double, isa::filter_kernel_float,                 \
            isa::filter_kernel_double, isa::density_rows                                                     \
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
    Kernels<float> kernels = chosen().exact_float(sum);
    kernels.filter = chosen().filter_float(sum);
    return kernels;
}

template <>
Kernels<double> find_kernels<double>(Sum sum) {
    Kernels<double> kernels = chosen().exact_double(sum);
    kernels.filter = chosen().filter_double(sum);
    return kernels;
}

DensityRows find_density_rows() { return chosen().density_rows; }

template <class T>
T filter_limit(double limit, Index n_features) {
    // Each of the n additions and products is off by at most one part in 2^24 (2^53); twice that is safe, and
    // the smallest normal number covers what underflows.
    const double steps = static_cast<double>(n_features) + 8;
    const double relative = 2 * steps * static_cast<double>(std::numeric_limits<T>::epsilon());
    const double raised = limit * (1 + relative) + steps * static_cast<double>(std::numeric_limits<T>::min());
    if (!(raised < static_cast<double>(std::numeric_limits<T>::max())))
        return std::numeric_limits<T>::infinity();
    return std::nextafter(static_cast<T>(raised), std::numeric_limits<T>::infinity());
}

template float filter_limit<float>(double, Index);
template double filter_limit<double>(double, Index);

}  // namespace pathforest
