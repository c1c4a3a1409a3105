#include "frontends/cli/emulate/emulate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "frontends/cli/bench/sweep.hpp"
#include "frontends/cli/emulate/emulated_environment.hpp"
#include "frontends/cli/size_units.hpp"
#include "frontends/cli/value_types.hpp"
#include "os/process/env.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kEmulate = "emulate";
constexpr std::uint32_t kEmulatedDevicesMax = 64;
constexpr std::uint64_t kEmulatedMemoryMin = std::uint64_t{1} << 20;
constexpr std::uint64_t kEmulatedMemoryMax = std::uint64_t{1} << 40;

struct EmulateOptions {
  std::uint32_t devices = 8;
  std::string memory;
  std::vector<std::string> kernels;
  std::vector<std::string> program;
};

Result<EmulatedMachine> MachineOf(const EmulateOptions& options) {
  EmulatedMachine machine{.devices = options.devices};
  if (!options.memory.empty()) {
    const auto bytes = ParseSize(options.memory);
    if (!bytes.ok()) return Error{bytes.error().code, "--memory: " + bytes.error().message};
    machine.memory_bytes = *bytes;
    if (*machine.memory_bytes < kEmulatedMemoryMin || *machine.memory_bytes > kEmulatedMemoryMax)
      return Error{Code::kInvalidArgument,
                   fmt::format("--memory is {}, not between 1 MiB and 1024 GiB", options.memory)};
  }
  for (const std::string& kernels : options.kernels) {
    std::error_code wrong;
    const auto path = std::filesystem::canonical(kernels, wrong);
    if (wrong)
      return Error{Code::kInvalidArgument,
                   fmt::format("--kernels {}: {}", kernels, wrong.message())};
    machine.kernels.push_back(path.string());
  }
  return machine;
}

Result<EnvMap> EnvironmentFor(const EmulateOptions& options) {
  RINGLET_TRY_ASSIGN(const EmulatedMachine machine, MachineOf(options));
  std::error_code wrong;
  const auto tool = std::filesystem::read_symlink("/proc/self/exe", wrong);
  if (wrong)
    return Error{Code::kSystem, "cannot read /proc/self/exe: " + wrong.message(), wrong.value()};
  RINGLET_TRY_ASSIGN(
      const EmulateFolders folders,
      FindEmulateFolders(tool.string(), RINGLET_LIBRARY_FOLDER, [](const std::string& path) {
        std::error_code ignored;
        return std::filesystem::exists(path, ignored);
      }));
  return EmulatedEnvironment(os::ReadEnvironment(), folders, machine);
}

std::vector<char*> PointersTo(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& one : strings) pointers.push_back(one.data());
  pointers.push_back(nullptr);
  return pointers;
}

// This process becomes the program: its terminal, signals and exit status are its own.
int Run(const EmulateOptions& options) {
  if (options.program.empty())
    return Fail(kEmulate, Error{Code::kInvalidArgument,
                                "no program; write ringlet emulate -- PROGRAM ARGUMENTS..."});
  const auto environment = EnvironmentFor(options);
  if (!environment.ok()) return Fail(kEmulate, environment.error());
  std::vector<std::string> arguments = options.program, variables;
  for (const auto& [name, value] : *environment) variables.push_back(name + "=" + value);
  ::execvpe(arguments.front().c_str(), PointersTo(arguments).data(), PointersTo(variables).data());
  const int reason = errno;
  Fail(kEmulate, Error{Code::kSystem,
                       fmt::format("cannot start {}: {}", arguments.front(),
                                   std::generic_category().message(reason)),
                       reason});
  return kExitCannotStart;
}

}  // namespace

void AddEmulate(CLI::App& tool, std::vector<std::string> program, Action& chosen) {
  CLI::App* emulate =
      tool.add_subcommand("emulate", "Run a program written for CUDA and NCCL without a GPU");
  emulate->footer(
      "Then the program and its arguments: ringlet emulate [OPTIONS] -- PROGRAM ARGUMENTS...\n"
      "The program and all that it starts find libnccl.so.2, libcudart, libcuda and libnvidia-ml "
      "of "
      "Ringlet:\n"
      "devices whose memory is the computer's. Kernels run as functions of --kernels alone.\n"
      "The exit status is the program's.");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto options = std::make_shared<EmulateOptions>();
  options->program = std::move(program);
  emulate->add_option("--devices", options->devices, "Number of devices")
      ->check(CLI::Range(1u, kEmulatedDevicesMax))
      ->capture_default_str();
  emulate
      ->add_option("--memory", options->memory,
                   fmt::format("Memory of each device, for each process; without it all devices "
                               "share this computer's. {}",
                               kSizeUnitsHelp))
      ->type_name(kSizeType);
  emulate
      ->add_option("--kernels", options->kernels,
                   "A library with host functions for kernels; see ringlet/kernel.h")
      ->type_name(kFileType)
      ->expected(1)
      ->take_all();
  emulate->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
