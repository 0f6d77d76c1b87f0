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
    explicit IndexedHeap(Index n_samples) : key_(as_size(n_samples)), slot_(as_size(n_samples), none) {
        heap_.reserve(as_size(n_samples));
    }

    bool empty() const { return heap_.empty(); }
    Index top() const { return heap_.front(); }
    const Key& top_key() const { return key_[as_size(heap_.front())]; }

    // Inserts the sample, or moves it to its new key, larger or smaller.
    void set(Index sample, const Key& key) {
        const auto s = as_size(sample);
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
        slot_[as_size(first)] = none;
        if (first != last) {
            place(last, 0);
            sift_down(0);
        }
        return first;
    }

  private:
    bool before(Index a, Index b) const {
        const Key& key_a = key_[as_size(a)];
        const Key& key_b = key_[as_size(b)];
        if (key_a < key_b) return true;
        if (key_b < key_a) return false;
        return a < b;
    }

    void place(Index sample, Index slot) {
        heap_[as_size(slot)] = sample;
        slot_[as_size(sample)] = slot;
    }

    void sift_up(Index slot) {
        const Index sample = heap_[as_size(slot)];
        while (slot > 0) {
            const Index parent = (slot - 1) / 2;
            const Index above = heap_[as_size(parent)];
            if (!before(sample, above)) break;
            place(above, slot);
            slot = parent;
        }
        place(sample, slot);
    }

    void sift_down(Index slot) {
        const Index sample = heap_[as_size(slot)];
        while (true) {
            std::size_t child = 2 * as_size(slot) + 1;  // may be beyond any Index
            if (child >= heap_.size()) break;
            if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
            const Index below = heap_[child];
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
