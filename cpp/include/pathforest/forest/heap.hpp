// A binary heap of samples whose keys can improve while they wait.
#pragma once

#include "pathforest/types.hpp"

#include <utility>
#include <vector>

namespace pathforest {

// The sample with the smallest key leaves first; equal keys leave by ascending index.
template <class Key>
class IndexedHeap {
  public:
    explicit IndexedHeap(Index n_samples)
        : key_(static_cast<std::size_t>(n_samples)), slot_(static_cast<std::size_t>(n_samples), none) {
        heap_.reserve(static_cast<std::size_t>(n_samples));
    }

    bool empty() const { return heap_.empty(); }
    Index top() const { return heap_.front(); }
    const Key& top_key() const { return key_[static_cast<std::size_t>(heap_.front())]; }

    // Inserts the sample, or moves it to its new key, larger or smaller.
    void set(Index sample, const Key& key) {
        const auto s = static_cast<std::size_t>(sample);
        if (slot_[s] == none) {
            slot_[s] = static_cast<Index>(heap_.size());
            heap_.push_back(sample);
            key_[s] = key;
            sift_up(slot_[s]);
            return;
        }
        const bool improved = key < key_[s];
        key_[s] = key;
        improved ? sift_up(slot_[s]) : sift_down(slot_[s]);
    }

    Index pop() {
        const Index first = heap_.front();
        const Index last = heap_.back();
        heap_.pop_back();
        slot_[static_cast<std::size_t>(first)] = none;
        if (first != last) {
            place(last, 0);
            sift_down(0);
        }
        return first;
    }

  private:
    bool before(Index a, Index b) const {
        const Key& key_a = key_[static_cast<std::size_t>(a)];
        const Key& key_b = key_[static_cast<std::size_t>(b)];
        if (key_a < key_b) return true;
        if (key_b < key_a) return false;
        return a < b;
    }

    void place(Index sample, Index slot) {
        heap_[static_cast<std::size_t>(slot)] = sample;
        slot_[static_cast<std::size_t>(sample)] = slot;
    }

    void sift_up(Index slot) {
        const Index sample = heap_[static_cast<std::size_t>(slot)];
        while (slot > 0) {
            const Index parent = (slot - 1) / 2;
            const Index above = heap_[static_cast<std::size_t>(parent)];
            if (!before(sample, above)) break;
            place(above, slot);
            slot = parent;
        }
        place(sample, slot);
    }

    void sift_down(Index slot) {
        const auto size = static_cast<std::int64_t>(heap_.size());
        const Index sample = heap_[static_cast<std::size_t>(slot)];
        while (true) {
            std::int64_t child = 2 * static_cast<std::int64_t>(slot) + 1;
            if (child >= size) break;
            if (child + 1 < size &&
                before(heap_[static_cast<std::size_t>(child + 1)], heap_[static_cast<std::size_t>(child)])) {
                ++child;
            }
            const Index below = heap_[static_cast<std::size_t>(child)];
            if (!before(below, sample)) break;
            place(below, slot);
            slot = static_cast<Index>(child);
        }
        place(sample, slot);
    }

    std::vector<Key> key_;
    std::vector<Index> slot_;
    std::vector<Index> heap_;
};

}  // namespace pathforest
