#include "pathforest/membership/density.hpp"

#include "../distances/power.hpp"
#include "pathforest/distances/kernels.hpp"

#include <algorithm>
#include <cmath>

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

void log_density(std::span<double> density, Index k) {
    constexpr double nearest_to_none = 0x1p-53;  // that a density of float64 can be below k, as a share
    for (double& value : density) {
        const double exponent =
            log_of_one_plus(std::max((k - value) / value, nearest_to_none));  // log(k / ρ)
        value = exponent < 1 ? log_of_one_plus(1 / exponent - 1) : -log_of_one_plus(exponent - 1);
    }
}

Index clear_neighborhood(Index n_samples) {
    constexpr double few = 1000, more = 10;
    const double n = n_samples, tens = log_of_one_plus(std::max(n / few, 1.0) - 1) / log_of_one_plus(9);
    const auto k = static_cast<Index>(std::sqrt(std::min(n, few)) / 2 + more * tens);
    return std::min({std::max(k, Index{5}), std::max(n_samples / 4, Index{1}), n_samples - 1});
}

double clear_height(const KnnGraph& graph, Index k, bool squared, double lowest, double highest) {
    if (lowest == highest) return infinity;
    const double n = graph.n_samples, inner = std::max(k / 2, 1);
    double sum = 0.0, n_apart = 0.0;
    for (Index i = 0; i < graph.n_samples; ++i) {
        const double nearer = graph.distance(i, std::max(k / 2, 1) - 1);
        if (nearer == 0) continue;
        sum += log_of_one_plus(graph.distance(i, k - 1) / nearer - 1);
        ++n_apart;
    }
    // k samples lie within r_k: their number grows with the power d of the distance.
    double d = sum > 0 ? log_of_one_plus(k / inner - 1) * n_apart / sum : 1.0;
    if (squared) d *= 2;
    const double most = log_of_one_plus(n - 1) / log_of_one_plus(1);  // a cube of so many has a corner each
    d = std::clamp(d, 1.0, std::max(most, 1.0));
    const double height = (1 + 2 / d) * std::sqrt(log_of_one_plus(n / k - 1) / k);
    return 2 / d * height * (highest_density - lowest_density) / (highest - lowest);
}

}  // namespace pathforest
