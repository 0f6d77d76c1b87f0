// WebAssembly here has no exceptions: a throw ends the program with the message of what would be thrown.
// Interfaces check their inputs first, so that only a fault of our own or lack of memory leads here.
#include <cstdio>
#include <cstdlib>
#include <exception>

extern "C" {

void* __cxa_allocate_exception(std::size_t size) { return std::malloc(size); }

[[noreturn]] void __cxa_throw(void* thrown, void*, void (*)(void*)) {
    // All exceptions of the core derive from std::exception, at their beginning.
    std::fprintf(stderr, "%s\n", static_cast<std::exception*>(thrown)->what());
    std::abort();
}

}  // extern "C"
