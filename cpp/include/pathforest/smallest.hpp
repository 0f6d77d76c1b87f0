// The few smallest of many items, whatever order they come in.
#pragma once

#include <algorithm>
#include <vector>

namespace pathforest {

// A bounded heap with the worst kept item on top.
template <class Item>
class Smallest {
  public:
    explicit Smallest(std::size_t capacity) : capacity_(capacity) { kept_.reserve(capacity); }

    bool full() const { return kept_.size() == capacity_; }
    const Item& worst() const { return kept_.front(); }

    void offer(const Item& item) {
        if (!full()) {
            kept_.push_back(item);
            std::push_heap(kept_.begin(), kept_.end());
        } else if (item < worst()) {
            std::pop_heap(kept_.begin(), kept_.end());
            kept_.back() = item;
            std::push_heap(kept_.begin(), kept_.end());
        }
    }

    // Ascending; no offers after this.
    const std::vector<Item>& sorted() {
        std::sort_heap(kept_.begin(), kept_.end());
        return kept_;
    }

  private:
    std::size_t capacity_;
    std::vector<Item> kept_;
};

}  // namespace pathforest
