// The constants of NCCL's time model that a tuner plug-in may change.
#pragma once
#include <array>
#include <cstdint>

#include "plan/tuning/tuning_choice.hpp"

namespace ringlet::plan {

inline constexpr std::size_t kTunedGenerations = 4;  ///< Volta, Ampere, Hopper, Blackwell
inline constexpr std::size_t kTunedScales = 3;       ///< one node, two, more

/// Bandwidth in MB/s, latency in ns. By algorithm and protocol, or by generation of GPUs and scale.
struct TuningConstants {
  using Latencies = std::array<std::array<std::uint64_t, kProtocols>, kAlgorithms>;
  using Rates = std::array<std::array<std::uint64_t, kTunedScales>, kTunedGenerations>;

  Latencies base_ns;                 ///< per call
  std::array<Latencies, 3> wire_ns;  ///< per step over NVLink, PCI, the network
  Rates ll_mb_per_s;                 ///< maximum of all channels with LL
  // Maximum per channel.
  Rates ring_ll128_mb_per_s, tree_ll128_mb_per_s, tree_mb_per_s, nvls_tree_mb_per_s;
  bool operator==(const TuningConstants&) const = default;
};

/// NCCL 2.30's constants for LL, LL128, Simple.
inline constexpr TuningConstants kNcclConstants = {
    .base_ns =
        {{{6'800, 14'000, 8'400}, {6'600, 14'000, 8'400}, {}, {}, {}, {}, {8'000, 8'000, 8'000}}},
    .wire_ns = {{{{{600, 1'250, 4'000},
                   {600, 1'900, 3'400},
                   {0, 0, 3'700},
                   {0, 0, 2'800},
                   {0, 0, 25'000},
                   {0, 0, 25'000},
                   {0, 0, 4'000}}},
                 {{{1'000, 1'900, 4'000},
                   {1'000, 2'500, 5'700},
                   {0, 0, 3'700},
                   {0, 0, 2'800},
                   {0, 0, 0},
                   {0, 0, 0},
                   {0, 0, 4'000}}},
                 {{{5'000, 8'500, 14'000},
                   {2'700, 4'000, 14'000},
                   {0, 0, 31'000},
                   {0, 0, 30'000},
                   {0, 0, 18'000},
                   {0, 0, 20'900},
                   {0, 0, 14'000}}}}},
    .ll_mb_per_s = {{{39'000, 39'000, 20'400},
                     {87'700, 22'500, 19'000},
                     {141'000, 45'000, 35'000},
                     {282'000, 90'000, 70'000}}},
    .ring_ll128_mb_per_s = {{{20'000, 20'000, 20'000},
                             {20'000, 20'000, 20'000},
                             {36'700, 36'700, 36'700},
                             {40'000, 40'000, 40'000}}},
    .tree_ll128_mb_per_s = {{{20'000, 20'000, 20'000},
                             {20'000, 20'000, 20'000},
                             {36'700, 36'700, 29'000},
                             {55'600, 31'670, 20'000}}},
    .tree_mb_per_s = {{{26'500, 18'500, 10'000},
                       {24'000, 23'600, 17'800},
                       {38'700, 41'400, 36'000},
                       {70'000, 42'800, 24'000}}},
    .nvls_tree_mb_per_s = {{{26'500, 18'500, 10'000},
                            {24'000, 23'600, 17'800},
                            {0, 57'700, 45'500},
                            {0, 96'000, 80'000}}}};

}  // namespace ringlet::plan
