// Types of libcudart's interface that its functions here use.
//
// Layouts and numbers are the published interface of CUDA 12 and 13, which differ in the properties
// of a device. RINGLET_CUDART selects the version at compile time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "ringlet/stream.h"

namespace ringlet::cuda {

struct Dim3 {
  unsigned x, y, z;
};

struct IpcBytes {
  std::array<std::byte, 64> bytes;
};

struct MemoryLocation {
  int type, id;
};

enum class CopyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

/// The cudaMemoryType.
enum class PointerType : int { kUnregistered, kHost, kDevice, kManaged };

struct PointerAttributes {
  PointerType type;
  int device;
  void* device_pointer;
  void* host_pointer;
#if RINGLET_CUDART >= 13
  std::array<long, 8> reserved;
#endif
};

struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int threads_max, registers, ptx_version, binary_version, cache_mode;
  int dynamic_shared_bytes_max, shared_carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy;
  int cluster_not_portable;
  std::array<int, 16> reserved;
};

struct LaunchConfiguration {
  Dim3 grid, block;
  std::size_t shared_bytes;
  ringletStream_t stream;
  const void* attributes;
  unsigned attribute_count;
};

struct HostNodeParameters {
  void (*function)(void*);
  void* data;
};

struct KernelNodeParameters {
  const void* function;
  Dim3 grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};

struct MemsetParameters {
  void* target;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;
};

struct DeviceProperties {
  std::array<char, 256> name;
  std::array<unsigned char, 16> uuid;
  std::array<char, 8> luid;
  unsigned luid_mask;
  std::size_t memory_bytes;
  std::size_t shared_bytes_per_block;
  int registers_per_block;
  int warp_size;
  std::size_t pitch_max;
  int threads_per_block_max;
  std::array<int, 3> block_max;
  std::array<int, 3> grid_max;
#if RINGLET_CUDART < 13
  int clock_khz;
#endif
  std::size_t constant_bytes;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
#if RINGLET_CUDART < 13
  int overlaps_copies;
#endif
  int processors;
#if RINGLET_CUDART < 13
  int has_timeout;
#endif
  int integrated;
  int maps_host_memory;
#if RINGLET_CUDART < 13
  int compute_mode;
#endif
  // Sizes of textures and surfaces, all 0, because they are not supported.
#if RINGLET_CUDART < 13
  std::array<int, 40> textures;
#else
  std::array<int, 39> textures;
#endif
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc;
  int pci_bus, pci_device, pci_domain;
  int tcc_driver;
  int copy_engines;
  int unified_addresses;
#if RINGLET_CUDART < 13
  int memory_clock_khz;
#endif
  int memory_bus_bits;
  int cache_bytes;
  int persisting_cache_bytes_max;
  int threads_per_processor_max;
  int stream_priorities;
  int global_caches, local_caches;
  std::size_t shared_bytes_per_processor;
  int registers_per_processor;
  int managed_memory;
  int several_on_board, board_group;
  int host_atomics;
#if RINGLET_CUDART < 13
  int single_to_double_ratio;
#endif
  int pageable_access, concurrent_managed_access;
  int preempts;
  int host_pointers_of_registered;
  int cooperative_launch;
#if RINGLET_CUDART < 13
  int cooperative_launch_of_several;
#endif
  std::size_t shared_bytes_per_block_opt_in;
  int pageable_by_host_tables;
  int direct_managed_access;
  int blocks_per_processor_max;
  int access_window_max;
  std::size_t shared_bytes_reserved;
  int registers_host_memory;
  int sparse_arrays;
  int registers_read_only;
  int timeline_semaphores;
  int memory_pools;
  int direct_rdma;
  unsigned direct_rdma_flush;
  int direct_rdma_order;
  unsigned pool_handle_types;
  int deferred_arrays;
  int ipc_events;
  int cluster_launch;
  int unified_functions;
  std::array<int, 63> later;
};
#if RINGLET_CUDART >= 13
static_assert(sizeof(DeviceProperties) == 1008 && offsetof(DeviceProperties, pci_bus) == 568);
static_assert(sizeof(PointerAttributes) == 88);
#else
static_assert(sizeof(DeviceProperties) == 1032 && offsetof(DeviceProperties, pci_bus) == 584);
static_assert(sizeof(PointerAttributes) == 24);
#endif
static_assert(sizeof(FunctionAttributes) == 144 && sizeof(LaunchConfiguration) == 56);

}  // namespace ringlet::cuda
