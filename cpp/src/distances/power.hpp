// x^y and log(1 + x) of our own, correctly rounded: those of C libraries differ in the last digit. Here are
// only + - * / and operations on bits, so every compiler and processor gives the same bits.
//
// Two steps. The quick one (quick_power.hpp) knows the result to 65 binary digits and can tell whether these
// settle its 53; one result in two thousand is left to the slow one, which knows about 90.
#pragma once

namespace pathforest {

// For x >= 0 and y > 0; infinity where it overflows.
double power(double x, double y);

// The same by the slow step alone.
double power_slowly(double x, double y);

// log(1 + x) for x >= 0.
double log_of_one_plus(double x);

}  // namespace pathforest
