// Partial sorting of distinct keys in random order, without branches that no processor can foresee.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace pathforest {

// As std::nth_element: puts the keys before nth to its left. Keys are small, and their order is a single
// comparison without branches.
template <class Key>
void select(Key* first, Key* nth, Key* last) {
    constexpr std::ptrdiff_t n_guesses = 24;
    // Where guesses keep missing, the rest is left to the library.
    for (int tries = 0; tries < 16 && last - first > 4 * n_guesses; ++tries) {
        // A key that is about as far up among a few as nth is among all.
        std::array<Key, n_guesses> guesses;
        for (std::ptrdiff_t g = 0; g < n_guesses; ++g)
            guesses[static_cast<std::size_t>(g)] = first[(last - first) * g / n_guesses];
        std::sort(guesses.begin(), guesses.end());
        const Key pivot = guesses[static_cast<std::size_t>((nth - first) * n_guesses / (last - first))];
        Key* middle = first;
        for (Key* next = first; next != last; ++next) {
            const Key key = *next;
            *next = *middle;
            *middle = key;
            middle += key < pivot;
        }
        (middle <= nth ? first : last) = middle;
    }
    std::nth_element(first, nth, last);
}

}  // namespace pathforest
