// The least a test needs: a check that says where it failed, and a count.
#pragma once

#include <cstdio>

namespace pathforest::tests {

inline int n_failed = 0;

inline void report(bool passed, const char* what, const char* file, int line) {
    if (passed) return;
    ++n_failed;
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
}

// A macro, for the text of the condition and the place it stands.
#define CHECK(condition) ::pathforest::tests::report((condition), #condition, __FILE__, __LINE__)

// Whether `call` throws an Exception.
template <class Exception, class Call>
bool throws(Call call) {
    try {
        call();
    } catch (const Exception&) {
        return true;
    }
    return false;
}

void test_boruvka();
void test_control();
void test_disjoint_sets();
void test_estimate();
void test_heap();
void test_limits();
void test_order();
void test_parallel();
void test_power();
void test_select();
void test_smallest();

}  // namespace pathforest::tests
