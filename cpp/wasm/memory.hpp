// What every module of JavaScript has in common: arrays are written into memory from pf_allocate.
#pragma once

#include <cstdlib>

// The name under which JavaScript finds a function.
#define PATHFOREST_EXPORT(name) extern "C" __attribute__((export_name(#name)))

PATHFOREST_EXPORT(pf_allocate) inline void* pf_allocate(std::size_t bytes) { return std::malloc(bytes); }
PATHFOREST_EXPORT(pf_free) inline void pf_free(void* memory) { std::free(memory); }
