// Buffers of one rank, in all kinds of memory.
#pragma once
#include <nccl.h>

#include <cstddef>
#include <deque>
#include <map>
#include <span>

#include "program.hpp"

namespace oracle {

class Heap {
 public:
  static constexpr std::size_t kStackBytes = 256 << 10;

  /// \param slot   number of the rank in its process
  /// \param stack  a piece of the stack of the thread that runs the rank
  Heap(int slot, std::span<std::byte> stack) : slot_(slot), stack_(stack) {}
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Returns at least `bytes` bytes, aligned to 64, until Release. Registers them with `comm` for
  /// some kinds. Data too large for the stack or static data come from malloc.
  std::byte* Take(Memory kind, std::size_t bytes, ncclComm_t comm);
  void Release();
  /// Call it before `comm` ends. False: leaves its registrations to the library.
  void Forget(ncclComm_t comm, bool deregister);

 private:
  struct Block {
    Memory kind = Memory::kMalloc;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    bool taken = true;
    std::map<ncclComm_t, void*> handles = {};
    ncclComm_t window_comm = nullptr;
    ncclWindow_t window = nullptr;
  };

  Block& Find(Memory kind, std::size_t bytes);
  std::byte* Allocate(Memory kind, std::size_t bytes);
  void Free(Block& block);
  std::byte* FromFixed(std::size_t bytes);

  int slot_;
  std::span<std::byte> stack_;
  std::size_t stack_used_ = 0, static_used_ = 0, fixed_used_ = 0;
  std::deque<Block> blocks_;
};

}  // namespace oracle
