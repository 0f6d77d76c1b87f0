#include "pathforest/distances/metrics.hpp"

#include "power.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace pathforest {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double identity(double value, double) { return value; }

double square_root(double reduced, double) { return std::sqrt(reduced); }
double square(double distance, double) { return distance * distance * (1 + 4 * epsilon); }

// LibOPF's default distance.
double log_of_square(double reduced, double) { return 1e5 * log_of_one_plus(reduced); }
// A bound only, with more room than any library's error.
double square_of_log(double distance, double) { return std::expm1(distance / 1e5) * (1 + 1e-9); }

double pth_root(double reduced, double p) { return power(reduced, 1 / p); }
// Room for the rounding of 1 / p and of both powers, which is coarser among subnormal numbers.
double pth_power(double distance, double p) { return power(distance, p) * (1 + 1e-12 * (p + 1)) + 1e-300; }

const auto metrics = std::to_array<Metric>({
    {"euclidean", Sum::squares, 2, true, square_root, square},
    {"sqeuclidean", Sum::squares, 2, true, identity, identity},
    {"log_sqeuclidean", Sum::squares, 2, true, log_of_square, square_of_log},
    {"manhattan", Sum::absolutes, 1, true, identity, identity},
    {"chebyshev", Sum::largest, 1, true, identity, identity},
    {"minkowski", Sum::powers, 2, true, pth_root, pth_power},
    {"cosine", Sum::cosine, 2, false, identity, identity},
    {"chi2", Sum::chi2, 2, false, identity, identity},
    {"canberra", Sum::canberra, 1, false, identity, identity},
    {"braycurtis", Sum::braycurtis, 1, false, identity, identity},
    {"nan_euclidean", Sum::nan_squares, 2, false, square_root, square},
    {"gower", Sum::gower, 1, false, identity, identity},
});

}  // namespace

Metric find_metric(std::string_view name, double p) {
    for (const Metric& metric : metrics) {
        if (metric.name != name) continue;
        Metric found = metric;
        if (found.sum == Sum::powers) found.p = p;
        return found;
    }
    throw std::invalid_argument("unknown metric '" + std::string(name) + "'");
}

std::vector<std::string> metric_names(bool in_tree_only) {
    std::vector<std::string> names;
    for (const Metric& metric : metrics) {
        if (metric.in_tree || !in_tree_only) names.push_back(metric.name);
    }
    return names;
}

}  // namespace pathforest
