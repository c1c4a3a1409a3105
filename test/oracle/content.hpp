// The contents of the ranks' inputs: a function of the seed, the call, the rank and the index. So
// every rank can compute the inputs of any other one.
#pragma once
#include <cstddef>
#include <cstdint>

#include "program.hpp"

namespace oracle {

class Content {
 public:
  /// \param ranks  of the call's communicator
  Content(std::uint64_t seed, const Call& call, int ranks);

  /// Returns the element at `index` of the input of rank `rank`, in the lowest bytes.
  std::uint64_t Element(int rank, std::size_t index) const;
  /// Returns the factor of rank `rank` for its elements, if the call needs one.
  std::uint64_t Scalar(int rank) const;
  /// Writes elements 0 to count - 1 of `rank`.
  void Fill(int rank, std::size_t count, std::byte* to) const;

  /// Returns true if every order of reducing gives the same value.
  bool exact() const { return exact_; }

 private:
  std::uint64_t Word(int rank, std::size_t index) const;
  std::uint64_t Float(std::uint64_t word) const;
  std::uint64_t SmallFloat(std::uint64_t word) const;
  std::uint64_t WideFloat(std::uint64_t word) const;
  std::uint64_t SpecialFloat(std::uint64_t word) const;

  static constexpr int kSmallMax = 8;

  Call call_;
  std::uint64_t key_;
  int small_ = 0;      ///< exact sums are of whole numbers from -small_ to small_
  int exponent_ = 0;   ///< wide values have exponents from -exponent_ to exponent_
  bool wide_ = false;  ///< otherwise whole numbers, or powers of two in products
  bool exact_ = true;
  bool ones_ = false;  ///< products of +1 and -1 only
  std::uint64_t smalls_[2 * kSmallMax + 1] = {};
  std::uint64_t powers_[6] = {};
};

}  // namespace oracle
