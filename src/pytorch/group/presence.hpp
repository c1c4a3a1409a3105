// Tracks the living ranks of a group, even before connections exist.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/control/beacon.hpp"
#include "pytorch/store/key_store.hpp"

namespace ringlet::torch_api {

/// Each rank puts the address of its process's beacon into the store when it creates the group, and
/// a farewell when it leaves. Peers check it after a long wait. Any thread may call all functions.
///
/// A program may create a group several times in one store, and restarted processes may do so too.
/// Each time is a generation of the group. All ranks of a generation use the same number: a living
/// process counts up by one, and a new process takes the generation of the living ranks. Notes of
/// earlier generations are ignored.
class Presence {
 public:
  enum class State : std::uint8_t {
    kUnknown,  ///< has not created the group yet, or cannot be checked from here
    kThere,
    kLeft,  ///< destroyed the group, or its program ended
    kGone,  ///< its process ended without leaving
  };

  struct Self {
    std::uint32_t rank = 0;
    std::shared_ptr<comm::Beacon> beacon = nullptr;  ///< null: peers cannot check this rank
    std::uint64_t process = 0;                       ///< from ProcessNumber
  };
  /// \param store  shared by all generations
  Presence(KeyStore& store, Self self) : store_(store), self_(std::move(self)) {}

  /// Joins a generation and sets `generation`. Call it first.
  /// Errors  the store's
  Status Announce();
  enum class Use : std::uint8_t { kNone, kConnected, kFailed };
  /// \param use  kNone unless this rank tried to connect to others in this generation. After a
  ///             failure, it catches up with ranks that were ahead. Errors  the store's
  Status Leave(Use use);
  std::uint64_t generation() const { return generation_; }

  /// Returns the known state of another rank. Cost  a system call; at the first check, some later
  /// ones, and before kGone, a request to the store
  /// \param closely  query the store for the address if it is unknown
  State Of(std::uint32_t rank, bool closely = false);
  /// Records the beacon of another rank of this generation, received outside the store.
  void RecordBeacon(std::uint32_t rank, const Address& beacon);

 private:
  /// The state of a rank in the store, written by the rank itself.
  struct PresenceRecord {
    std::uint64_t generation = 0;
    std::uint64_t first = 0;  ///< first generation to share with a new process
    std::uint64_t process = 0;
    bool left = false;
    std::optional<Address> beacon = std::nullopt;
  };
  struct Known {
    std::optional<comm::BeaconProbe> beacon_probe;
    std::uint32_t looks = 0;
    State state = State::kUnknown;
  };
  Result<std::optional<PresenceRecord>> NoteOf(std::uint32_t rank);
  Status Put(const PresenceRecord& record);
  Status JoinGeneration(PresenceRecord& own);
  void ReadStateFromStore(std::uint32_t rank, Known& known);

  KeyStore& store_;
  const Self self_;
  std::uint64_t generation_ = 0;
  std::mutex mutex_;
  std::uint64_t newest_ = 0;  // newest generation seen of another rank
  std::map<std::uint32_t, Known> known_;
};

/// Returns "rank 3 is gone: its process has ended" or that it has left; empty otherwise.
std::string AbsenceReason(Presence& presence, std::uint32_t rank);
/// Returns the first reason among the ranks below `end` except `but`.
std::string AbsenceReason(Presence& presence, std::uint32_t end, std::uint32_t but);
/// Returns the reasons of all `ranks` that have one. Lost ranks precede ranks that left, because
/// those may have left due to the lost ones.
std::vector<std::pair<std::uint32_t, std::string>> AbsenceReason(
    Presence& presence, const std::vector<std::uint32_t>& ranks);

}  // namespace ringlet::torch_api
