// The few smallest of many items, whatever order they come in.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace pathforest {

// A buffer with some room beyond the capacity: only when it is full are the largest thrown out, which costs
// less per item than keeping a heap in order. Until then `worst` is larger than it need be, and never wrong.
template <class Item>
class Smallest {
  public:
    explicit Smallest(std::size_t capacity)
        : capacity_(capacity), room_(capacity + std::max<std::size_t>(1, capacity / 2)) {}

    // Whether there are as many items as asked for, so that a new one must be smaller than `worst`.
    bool full() const { return kept_.size() >= capacity_; }
    const Item& worst() const { return worst_; }

    void offer(const Item& item) {
        if (full() && !(item < worst_)) return;
        if (kept_.empty()) kept_.reserve(room_);  // not sooner: copies would lose it
        kept_.push_back(item);
        if (kept_.size() == capacity_ || kept_.size() == room_) throw_out();
    }

    // Ascending; no offers after this.
    std::span<const Item> sorted() {
        if (full()) throw_out();
        std::sort(kept_.begin(), kept_.end());
        return kept_;
    }

  private:
    void throw_out() {
        const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(capacity_) - 1;
        std::nth_element(kept_.begin(), last, kept_.end());
        worst_ = *last;
        kept_.resize(capacity_);
    }

    std::size_t capacity_;
    std::size_t room_;
    std::vector<Item> kept_;
    Item worst_{};
};

// The same for so few that keeping them sorted, in place, costs least.
template <class Item, std::size_t most>
class SmallestFew {
  public:
    explicit SmallestFew(std::size_t capacity) : capacity_(capacity) {}

    bool full() const { return size_ == capacity_; }
    const Item& worst() const { return kept_[capacity_ - 1]; }

    void offer(const Item& item) {
        if (full() && !(item < worst())) return;
        std::size_t place = full() ? size_ - 1 : size_++;
        for (; place > 0 && item < kept_[place - 1]; --place) kept_[place] = kept_[place - 1];
        kept_[place] = item;
    }

    std::span<const Item> sorted() const { return std::span(kept_).first(size_); }

  private:
    std::size_t capacity_;
    std::size_t size_ = 0;
    std::array<Item, most> kept_;
};

}  // namespace pathforest
