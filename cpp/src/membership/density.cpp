#include "pathforest/membership/density.hpp"

#include "pathforest/distances/kernels.hpp"

#include <algorithm>

namespace pathforest {
namespace {

constexpr double lowest_density = 1.0;
constexpr double highest_density = 1000.0;

}  // namespace

DensityKernel::DensityKernel(double largest_arc, bool squared) : squared_(squared) {
    const double psi = largest_arc / 3;
    divisor_ = squared ? 2 * largest_arc / 9 : 2 * psi * psi;
}

void DensityKernel::sum_rows(std::span<const double> distances, Index width, Index k,
                             std::span<double> density) const {
    if (divisor_ == 0) {
        std::fill(density.begin(), density.end(), 1.0);
        return;
    }
    find_density_rows()(distances.data(), width, k, static_cast<Index>(density.size()), squared_, divisor_,
                        density.data());
}

double largest_arc(const KnnGraph& graph, Index k) {
    double largest = 0.0;
    for (Index i = 0; i < graph.n_samples; ++i) largest = std::max(largest, graph.distance(i, k - 1));
    return largest;
}

std::vector<double> density(const KnnGraph& graph, Index k, bool squared, const Pause& pause) {
    std::vector<double> result(as_size(graph.n_samples), 1.0);
    if (k == 0) return result;
    const DensityKernel kernel(largest_arc(graph, k), squared);
    for (Index first = 0; first < graph.n_samples; first += samples_between_pauses) {
        pause();
        const Index n_rows = std::min(samples_between_pauses, graph.n_samples - first);
        kernel.sum_rows(graph.distances.subspan(at(first, graph.k)), graph.k, k,
                        std::span(result).subspan(as_size(first), as_size(n_rows)));
    }
    return result;
}

void scale_density(std::span<double> density, double low, double high) {
    if (low == high) {
        std::fill(density.begin(), density.end(), highest_density);
        return;
    }
    for (double& value : density) {
        value = (value - low) / (high - low) * (highest_density - lowest_density) + lowest_density;
    }
}

void scale_density(std::span<double> density) {
    const auto [low, high] = std::minmax_element(density.begin(), density.end());
    scale_density(density, *low, *high);
}

}  // namespace pathforest
