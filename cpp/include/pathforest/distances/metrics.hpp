// The metrics: names, the sum each one is built from, and the step from that sum to the distance and back.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace pathforest {

// What the inner loops add up. Metrics that differ only in their last step share a sum: euclidean,
// sqeuclidean and log_sqeuclidean all add squared differences.
enum class Sum {
    squares,
    absolutes,
    largest,
    powers,
    cosine,
    chi2,
    canberra,
    braycurtis,
    nan_squares,
    gower
};

// What a term depends on beside the two values: the exponent of powers; and of gower, per feature, the range
// and the weight.
struct TermParameters {
    double p;
    const double* ranges;
    const double* weights;
};

// The "reduced" distance is what the loops compute; the distance itself is an increasing function of it.
struct Metric {
    std::string name;
    Sum sum;
    double p;
    bool in_tree;  // a box around samples bounds their distance from below

    // The distance itself, as a float64: the value that arcs and offers compare by.
    double (*distance)(double reduced, double p);
    // Every reduced value whose distance is <= the given one is <= this; a little room for rounding is fine,
    // since whatever passes is settled by `distance`.
    double (*reduced_limit)(double distance, double p);

    // Of "gower", one of each per feature: the range, 0 for categories and infinity for values that are never
    // apart; and the weight.
    std::vector<double> ranges = {};
    std::vector<double> weights = {};

    TermParameters terms() const { return {p, ranges.data(), weights.data()}; }
};

// 1 - cos, from the inner product and the squared lengths. The root of the product, not the product of the
// roots, makes equal vectors exactly 0 apart; where the product would leave the range of doubles, the roots
// must do. Static, since it is compiled for several instruction sets.
static inline double cosine_distance(double inner, double square_a, double square_b) {
    if (square_a == 0 || square_b == 0) return square_a == square_b ? 0.0 : 1.0;
    const double product = square_a * square_b;
    const bool in_range = 1e-290 < product && product < 1e290;
    const double distance =
        1 - inner / (in_range ? std::sqrt(product) : std::sqrt(square_a) * std::sqrt(square_b));
    return distance > 0 ? distance : 0.0;
}

// Throws std::invalid_argument for an unknown name.
Metric find_metric(std::string_view name, double p);
std::vector<std::string> metric_names(bool in_tree_only);

}  // namespace pathforest
