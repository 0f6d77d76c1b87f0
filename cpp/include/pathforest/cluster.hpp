// OPF clustering (Algorithm 2 of the paper): densities, the f_min competition, its normalised cut, and k*.
#pragma once

#include "pathforest/control.hpp"
#include "pathforest/types.hpp"

#include <span>
#include <vector>

namespace pathforest {

// Turns distances into Eq. 3's kernel values. `squared` says that the metric is a square
// already, so that the kernel does not square it again.
class DensityKernel {
  public:
    DensityKernel(double largest_arc, bool squared);

    // Eq. 3 without its constant factor, terms added in neighbour order; 1 where all distances are zero.
    double sum(std::span<const double> distances) const;

  private:
    double divisor_;
    bool squared_;
};

// The largest arc of the graph cut down to its k nearest neighbours.
double largest_arc(const KnnGraph& graph, Index k);

std::vector<double> density(const KnnGraph& graph, Index k, bool squared, const Pause& pause);

// To [1, 1000] between the extremes, the densities' own unless given; equal extremes make all 1000.
std::vector<double> scale_density(std::span<const double> density);
std::vector<double> scale_density(std::span<const double> density, double low, double high);

// Clusters the k-nn graph by its scaled densities.
Clustering cluster(const KnnGraph& graph, Index k, std::span<const double> scaled, const Pause& pause);

// The cut of every k from 1 to k_max, up to and including the first that is 0. Needs graph.k >= k_max.
std::vector<double> search_k(const KnnGraph& graph, Index k_max, bool squared, Control& control);

}  // namespace pathforest
