// Runs collective operations of oneCCL on CPUs for `ringlet bench OPERATION --vs oneccl`. Intel MPI
// starts the ranks. Arguments and output are those of mpi_bench.c. An in-place call has one buffer
// for both.
#include "mpi_calls.h"
#include "oneccl_form.hpp"

namespace {

// Global, because C functions without a context make oneCCL's calls.
const ccl::communicator* communicator = nullptr;

ccl::datatype TypeOf(const Call& call) {
  const struct {
    const char* name;
    ccl::datatype type;
  } types[] = {{"int8", ccl::datatype::int8},     {"uint8", ccl::datatype::uint8},
               {"int32", ccl::datatype::int32},   {"uint32", ccl::datatype::uint32},
               {"int64", ccl::datatype::int64},   {"uint64", ccl::datatype::uint64},
               {"float", ccl::datatype::float32}, {"double", ccl::datatype::float64}};
  for (const auto& each : types)
    if (!std::strcmp(each.name, call.type.name)) return each.type;
  Fail("type", call.type.name);
  return {};
}

ccl::reduction ReductionOf(const Call& call) {
  if (call.op == MPI_SUM) return ccl::reduction::sum;
  if (call.op == MPI_PROD) return ccl::reduction::prod;
  if (call.op == MPI_MIN) return ccl::reduction::min;
  return ccl::reduction::max;
}

std::size_t CountOf(const Call* c) {
  return static_cast<std::size_t>(c->count);
}

void AllReduce(const Call* c) {
  ccl::allreduce(c->input, c->output, CountOf(c), TypeOf(*c), ReductionOf(*c), *communicator)
      .wait();
}

void AllGather(const Call* c) {
  const char* const own = c->in_place ? c->output + CountOf(c) * c->type.bytes * c->rank : c->input;
  ccl::allgather(own, c->output, CountOf(c), TypeOf(*c), *communicator).wait();
}

void ReduceScatter(const Call* c) {
  ccl::reduce_scatter(c->input, c->output, CountOf(c), TypeOf(*c), ReductionOf(*c), *communicator)
      .wait();
}

void Broadcast(const Call* c) {
  char* const buffer = c->rank == c->root ? c->input : c->output;
  ccl::broadcast(buffer, CountOf(c), TypeOf(*c), c->root, *communicator).wait();
  if (buffer != c->output) std::memcpy(c->output, c->input, CountOf(c) * c->type.bytes);
}

void Reduce(const Call* c) {
  ccl::reduce(c->input, c->output, CountOf(c), TypeOf(*c), ReductionOf(*c), c->root, *communicator)
      .wait();
}

void AllToAll(const Call* c) {
  ccl::alltoall(c->input, c->output, CountOf(c), TypeOf(*c), *communicator).wait();
}

void Barrier(const Call*) {
  ccl::barrier(*communicator);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const NamedOperation operations[] = {
      {"all_reduce", AllReduce}, {"all_gather", AllGather}, {"reduce_scatter", ReduceScatter},
      {"broadcast", Broadcast},  {"reduce", Reduce},        {"all_to_all", AllToAll},
      {"barrier", Barrier}};
  int provided = 0;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_MULTIPLE,
                  &provided);  // oneCCL requires it
  {
    const ccl::communicator formed = FormOneccl();
    communicator = &formed;
    const ccl::library_version version = ccl::get_library_version();
    const std::string text = "oneCCL " + std::to_string(version.major) + "." +
                             std::to_string(version.minor) + "." + std::to_string(version.update);
    MeasureCalls(argument_count, arguments, text.c_str(), operations, std::size(operations));
  }
  MPI_Finalize();
  return 0;
}
