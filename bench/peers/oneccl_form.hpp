// Forms a communicator of oneCCL with all ranks of MPI_COMM_WORLD.
#pragma once
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdlib>
#include <memory>
#include <oneapi/ccl.hpp>

inline ccl::communicator FormOneccl() {
  ::setenv("CCL_LOG_LEVEL", "error", 0);  // it warns of the existing MPI, which is intended
  ccl::init();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ccl::kvs::address_type address{};
  std::shared_ptr<ccl::kvs> store;
  if (rank == 0) {
    store = ccl::create_main_kvs();
    address = store->get_address();
  }
  MPI_Bcast(address.data(), static_cast<int>(address.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank != 0) store = ccl::create_kvs(address);
  return ccl::create_communicator(ranks, rank, store);
}
