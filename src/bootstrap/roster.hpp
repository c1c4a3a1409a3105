// Who is in the communicator: one immutable buffer with a record for each rank.
#pragma once
#include <string>
#include <vector>

#include "base/address.hpp"
#include "base/bytes.hpp"
#include "ringlet/types.hpp"

namespace ringlet::bootstrap {

/// What a member says about itself when it checks in.
struct Introduction {
  std::vector<Address> addresses;  ///< of its control listener, best first; at most kAddressesMax
  std::string host;                ///< host name, for messages; at most kHostBytesMax
  std::uint32_t pid = 0;
  Bytes
      card;  ///< what the layers above need to know of the rank; opaque here; at most kCardBytesMax

  bool operator==(const Introduction&) const = default;
};

inline constexpr std::size_t kAddressesMax = 16;
inline constexpr std::size_t kHostBytesMax = 255;
inline constexpr std::size_t kCardBytesMax = 4096;

void Encode(Writer& out, const Introduction& introduction);
Introduction DecodeIntroduction(Reader& in);  ///< fails `in` beyond a bound

/// "rank 3 (host node7, pid 4711)"
std::string Describe(Rank rank, const Introduction& introduction);

/// The records of all ranks in one buffer that is forwarded, shared and kept, never decoded whole.
/// Layout in docs/wire.md. Look-up is O(1).
class Roster {
 public:
  Roster() = default;

  /// \param records  the encoded Introduction of rank 0, 1, ...
  static Roster Build(const std::vector<Bytes>& records);

  /// Takes a received roster without copying it.
  /// Errors  kProtocol  another size than `size`, a broken index, a wrong digest.
  static Result<Roster> Parse(const Slice& bytes, std::uint32_t size);

  std::uint32_t size() const { return size_; }
  std::uint64_t digest() const { return digest_; }
  const Slice& bytes() const { return bytes_; }

  /// Errors  kProtocol  the record does not parse.
  Result<Introduction> At(Rank rank) const;
  /// As Describe(rank, At(rank)); just "rank 3" when the record cannot be had.
  std::string DescribeRank(Rank rank) const;

 private:
  View RecordOf(std::uint32_t index) const;
  std::uint32_t EndOf(std::uint32_t index) const;

  Slice bytes_;
  std::uint32_t size_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace ringlet::bootstrap
