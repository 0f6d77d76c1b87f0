// The metrics: names, the sum each one is built from, and the step from that sum to the distance and back.
#pragma once

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

// Throws std::invalid_argument for an unknown name.
Metric find_metric(std::string_view name, double p);
std::vector<std::string> metric_names(bool in_tree_only);

}  // namespace pathforest
