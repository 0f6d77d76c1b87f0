// Eq. 3 of the paper: how densely samples lie, from the distances to their nearest neighbours.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest {

// A dome of scaled density lower than this is not a cluster of its own.
inline constexpr double delta = 1.0;

// Turns rows of neighbour distances into densities. `squared` says that the metric is a square already, so
// that the kernel does not square it again.
class DensityKernel {
  public:
    DensityKernel(double largest_arc, bool squared);

    // Eq. 3 without its constant factor, one value per row: the sum over the first k of the `width` distances
    // in it, terms added in neighbour order; 1 where all distances are zero.
    void sum_rows(std::span<const double> distances, Index width, Index k, std::span<double> density) const;

  private:
    double divisor_;
    bool squared_;
};

// The largest arc of the graph cut down to its k nearest neighbours.
double largest_arc(const KnnGraph& graph, Index k);

std::vector<double> density(const KnnGraph& graph, Index k, bool squared, const Pause& pause);

// To [1, 1000] between the extremes, the densities' own unless given; equal extremes make all 1000.
void scale_density(std::span<double> density);
void scale_density(std::span<double> density, double low, double high);

// Densities of k neighbours by the logarithm of what they fill. Where they lie within a small part of the
// width ψ of Eq. 3, at root mean square distance R, it is k exp(-R² / 2ψ²), close to k for all but the
// sparsest samples; this is -2 log(R) but for a constant.
void log_density(std::span<double> density, Index k);

// The neighbourhood of a density of n samples whose clear domes are clusters: of up to 1,000 samples half the
// square root of their number, and 10 more for each factor of ten above; chosen on other data than
// docs/results/clustering.md shows. At least 5, but of very few samples one in four: more would reach across
// clusters.
Index clear_neighborhood(Index n_samples);

// What a dome must measure in height, on the scale from 1 to 1000 of logarithms, to be clear of chance: in
// units of log(density) (1 + 2 / d) sqrt(log(n / k) / k), with d the number of dimensions that the growth of
// neighbourhoods shows. From k neighbours the logarithm of a density is off by about 1 / sqrt(k), chance has
// n / k places to make a maximum, and the fewer the dimensions, the fewer the ways around a valley. Infinity
// where all densities are equal.
double clear_height(const KnnGraph& graph, Index k, bool squared, double lowest, double highest);

}  // namespace pathforest
