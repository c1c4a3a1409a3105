// All-reduce among processes.
//
//   ringlet run -n 4 ./processes       each takes its rank and the id from its environment
//   ./processes new                    prints an id and serves it as rank 0 of 2; then, elsewhere:
//   ./processes 1 2 ID                 joins as rank 1 of 2
#include <ringlet/communicator.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Job {
  ringlet::UniqueId id;
  std::uint32_t rank = 0;
  std::uint32_t size = 2;
};

std::uint32_t NumberIn(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? static_cast<std::uint32_t>(std::atoi(text)) : 0;
}

ringlet::Result<Job> ReadJob(int argc, char** argv) {
  if (argc == 4) {
    RINGLET_TRY_ASSIGN(const auto id, ringlet::UniqueId::FromText(argv[3]));
    return Job{id, static_cast<std::uint32_t>(std::atoi(argv[1])),
               static_cast<std::uint32_t>(std::atoi(argv[2]))};
  }
  RINGLET_TRY_ASSIGN(const auto id, ringlet::UniqueId::Create());
  if (argc == 2 && argv[1] == std::string("new")) {
    std::printf("%s\n", id.ToText().c_str());
    std::fflush(stdout);
    return Job{id};
  }
  if (argc != 1 || NumberIn("WORLD_SIZE") == 0)
    return ringlet::Error{ringlet::Code::kInvalidArgument,
                          std::string("usage: ringlet run -n RANKS ") + argv[0] +
                              ", or with arguments: new | RANK RANKS ID"};
  return Job{id, NumberIn("RANK"), NumberIn("WORLD_SIZE")};
}

ringlet::Status Run(const Job& job) {
  RINGLET_TRY_ASSIGN(auto communicator,
                     ringlet::Communicator::Create(job.id, ringlet::Rank{job.rank}, job.size));
  std::vector<float> data(1000, static_cast<float>(job.rank + 1));
  RINGLET_TRY(communicator.AllReduce(data, data));  // in place
  const auto expected = static_cast<float>(job.size * (job.size + 1) / 2);
  if (data != std::vector<float>(data.size(), expected))
    return ringlet::Error{ringlet::Code::kProtocol, "a wrong sum"};
  std::fprintf(stderr, "rank %u of %u on %u host(s): ok\n", job.rank, job.size,
               communicator.hosts());
  return communicator.Destroy();
}

}  // namespace

int main(int argc, char** argv) {
  const auto job = ReadJob(argc, argv);
  const ringlet::Status status = job.ok() ? Run(*job) : ringlet::Status(job.error());
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
