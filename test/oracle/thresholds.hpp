// Sizes at which the library may change its behavior, listed here independently: counts are drawn
// around them. A missing size is drawn only by chance; a superfluous one is harmless.
#pragma once
#include <array>
#include <cstddef>

namespace oracle {

/// Bytes of a block, of a rank's input, or of all ranks' blocks together.
inline constexpr auto kThresholdBytes = std::to_array<std::size_t>({
    8,          // a message in the line of its arrival mark
    32,         // in the cache line of a post; the header of a call over links
    64,         // a cache line
    1 << 10,    // the first write to a link
    4 << 10,    // a page; a short message of TCP; messages by reference and timed, with a core
    16 << 10,   // one-shot; a block of a reduction
    32 << 10,   // a slot; registered messages by reference, shared cores; a piece
    64 << 10,   // a slice of a link; the last broadcast in slices
    128 << 10,  // a ring of payloads; fetched blocks
    256 << 10,  // a pipe; a stage; a chunk; a turn
    512 << 10,  // two stages
    1 << 20,    // one fetch of a message
    2 << 20,    // a huge page; fetched all-gathers
    4 << 20,    // one fetch of a collective
    6 << 20,    // stores past the caches
    8 << 20,    // fetched messages
    12 << 20,   // stores of fetched data past the caches
});

/// Elements of a call.
inline constexpr auto kThresholdElements = std::to_array<std::size_t>({1024, 2048});

inline constexpr auto kPrimes =
    std::to_array<std::size_t>({2,   3,   5,    7,    11,   13,   17,    31,    61,    127,
                                251, 509, 1021, 2039, 4093, 8191, 16381, 32749, 65521, 131071});

}  // namespace oracle
