// How many samples the core admits.
#pragma once

#include "pathforest/types.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace pathforest {

// Loops go through samples in steps: lanes, panels, the rows between two pauses. The end of the last step
// lies beyond the last sample, and must be an Index too. No step is longer than this; each divides it.
inline constexpr Index longest_step = 1024;

inline constexpr Index most_samples = std::numeric_limits<Index>::max() - (longest_step - 1);

// `what` names the things counted.
inline Index as_count(std::size_t count, const char* what = "samples") {
    if (count > as_size(most_samples)) {
        throw std::invalid_argument(
            std::to_string(count) + " " + what + " are more than the " + std::to_string(most_samples) +
            " that 32-bit indices have room for; take fewer, or part of them at a time");
    }
    return static_cast<Index>(count);
}

}  // namespace pathforest
