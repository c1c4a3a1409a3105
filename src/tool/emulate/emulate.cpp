#include "tool/emulate/emulate.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "comm/process/parts/fault.hpp"
#include "os/fs/write_file.hpp"
#include "os/process/env.hpp"
#include "os/process/random.hpp"
#include "programs/foreground.hpp"
#include "programs/private_folder.hpp"
#include "tool/emulate/emulated_environment.hpp"
#include "tool/emulate/machine_sys.hpp"
#include "tool/emulate/slow_choice.hpp"
#include "tool/input/machine_choice.hpp"
#include "tool/input/machine_folder.hpp"
#include "tool/input/machine_list.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/operation/size_units.hpp"
#include "tool/operation/sweep.hpp"
#include "tool/run/job.hpp"
#include "tool/run/run.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/terminal.hpp"
#include "tool/text/value_types.hpp"
#include "tool/traffic/traffic_report.hpp"
#include "tool/traffic/traffic_text.hpp"
#include "topo/edit/cut_links.hpp"
#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kEmulate = "emulate";
constexpr std::uint64_t kEmulatedMemoryMin = std::uint64_t{1} << 20;
constexpr std::uint64_t kEmulatedMemoryMax = std::uint64_t{1} << 40;

constexpr std::uint32_t kPlainDevices = 8;
constexpr std::string_view kMachineSetting = "RINGLET_MACHINE";

struct EmulateOptions {
  std::optional<std::string> machine;
  std::optional<std::uint32_t> devices;
  std::string memory;
  std::vector<std::string> kernels;
  std::optional<std::uint32_t> ranks, hosts;
  double grace_s = 5;
  bool keep_going = false;
  std::string policy;
  std::string kill, report;
  std::string sysfs = "auto";
  std::vector<std::uint32_t> without_nvlink;
  std::vector<std::string> slow;
  bool pace = false;
  bool list = false;
  bool json = false;
  std::vector<std::string> program;
};

/// The machine for the program, and the folders with files for the run.
struct EmulateSetup {
  EmulatedMachine machine;
  std::unique_ptr<os::PrivateFolder> folder;
  std::unique_ptr<os::PrivateFolder> traffic;  ///< for the traffic files of ranks; null: no report
  std::unique_ptr<os::PrivateFolder> fault;    ///< folder for the file of --kill; null: no fault
  std::optional<topology::HostView> view;      ///< null: no machine
  std::vector<comm::SlowLink> slow;
};

Result<std::unique_ptr<os::PrivateFolder>> MakeFolder(const EnvMap& environment) {
  const auto parent = environment.find("TMPDIR");
  return os::PrivateFolder::Make(parent == environment.end() ? "" : parent->second,
                                 "ringlet-emulate");
}

Status WriteMachine(const EnvMap& environment, const topology::HostView& view,
                    EmulateSetup& setup) {
  RINGLET_TRY_ASSIGN(setup.folder, MakeFolder(environment));
  setup.machine.topology = setup.folder->path() + "/machine.xml";
  return os::WriteFile(setup.machine.topology, ToXml(view));
}

Status SetMachine(const EmulateOptions& options, const EnvMap& environment, EmulateSetup& setup) {
  if (options.machine && options.machine->empty())
    return Error{
        Code::kInvalidArgument,
        "--machine is empty; --list-machines shows names, and without --machine devices are plain"};
  const auto named = environment.find(kMachineSetting);
  const std::string words = options.machine              ? *options.machine
                            : named != environment.end() ? named->second
                                                         : "";
  setup.machine.devices = options.devices.value_or(kPlainDevices);
  if (words.empty() && !options.without_nvlink.empty())
    return Error{Code::kInvalidArgument, "--drop-nvlink needs a --machine that has NVLinks"};
  if (words.empty()) return Ok();
  RINGLET_TRY_ASSIGN(const std::string folder, MachineFolder());
  RINGLET_TRY_ASSIGN(const ChosenMachine chosen, ChooseMachine(words, folder));
  for (const std::string& note : chosen.notes) PrintNote(kEmulate, note);
  const auto gpus = static_cast<std::uint32_t>(chosen.view.gpus.size());
  if (options.devices.value_or(gpus) > gpus)
    return Error{Code::kInvalidArgument,
                 fmt::format("--devices is {}, but the machine {} has {}", *options.devices, words,
                             Counted(gpus, "GPU"))};
  setup.machine.devices = options.devices.value_or(gpus);
  setup.machine.topology = chosen.path;
  setup.view = chosen.view;
  if (!chosen.path.empty() && options.without_nvlink.empty()) return Ok();
  for (const std::uint32_t gpu : options.without_nvlink)
    RINGLET_TRY(topology::CutNvLinks(*setup.view, gpu));
  return WriteMachine(environment, *setup.view, setup);
}

/// Shows the machine's /sys to the program and this process.
Status ShowSys(const EmulateOptions& options, const EmulateSetup& setup) {
  const bool cpus = options.sysfs == "cpus", must = cpus || options.sysfs == "on";
  if (options.sysfs == "off") return Ok();
  if (!setup.view)
    return must ? Status(Error{Code::kInvalidArgument,
                               fmt::format("--sysfs {} needs a --machine to show", options.sysfs)})
                : Ok();
  const Status shown =
      ShowMachineSys(*setup.view, cpus ? testbed::SysCpus::kMachine : testbed::SysCpus::kComputer);
  if (shown.ok() || must) return shown;
  PrintNote(kEmulate, "the program sees this computer's /sys: " + shown.error().message);
  return Ok();
}

Status SetMemory(const EmulateOptions& options, EmulatedMachine& machine) {
  if (options.memory.empty()) return Ok();
  const auto bytes = ParseSize(options.memory);
  if (!bytes.ok()) return Error{bytes.error().code, "--memory: " + bytes.error().message};
  machine.memory_bytes = *bytes;
  if (*bytes >= kEmulatedMemoryMin && *bytes <= kEmulatedMemoryMax) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("--memory is {}, not between 1 MiB and 1024 GiB", options.memory)};
}

Status SetKernels(const EmulateOptions& options, EmulatedMachine& machine) {
  for (const std::string& kernels : options.kernels) {
    std::error_code wrong;
    const auto path = std::filesystem::canonical(kernels, wrong);
    if (wrong)
      return Error{Code::kInvalidArgument,
                   fmt::format("--kernels {}: {}", kernels, wrong.message())};
    machine.kernels.push_back(path.string());
  }
  return Ok();
}

/// Checks that the report can be written before a program runs for hours.
Status CheckReportFile(const std::string& path) {
  const bool was_there = IsThere(path);
  const bool opens = std::ofstream(path, std::ios::app).is_open();
  const int why = errno;
  std::error_code ignored;
  if (opens && !was_there) std::filesystem::remove(path, ignored);
  if (opens) return Ok();
  return Error{Code::kSystem,
               fmt::format("--report: cannot write {}: {}", path, std::strerror(why)), why};
}

Status SetReport(const EmulateOptions& options, const EnvMap& environment, EmulateSetup& setup) {
  if (options.report.empty()) return Ok();
  if (setup.machine.topology.empty())
    return Error{Code::kInvalidArgument, "--report needs a --machine with links to report"};
  RINGLET_TRY(CheckReportFile(options.report));
  RINGLET_TRY_ASSIGN(setup.traffic, MakeFolder(environment));
  setup.machine.traffic = setup.traffic->path();
  return Ok();
}

Status SetFaults(const EmulateOptions& options, const EnvMap& environment, EmulateSetup& setup) {
  if (!options.slow.empty()) {
    if (!setup.view)
      return Error{Code::kInvalidArgument, "--slow needs a --machine that has the link"};
    RINGLET_TRY_ASSIGN(setup.slow,
                       ChooseSlowLinks(options.slow, *setup.view, options.hosts.value_or(1)));
  }
  if (options.kill.empty()) return Ok();
  const auto fault = comm::ParseFault(options.kill);
  if (!fault.ok()) return Error{fault.error().code, "--kill: " + fault.error().message};
  // A program without -n may have any number of ranks.
  if (options.ranks && fault->rank >= *options.ranks)
    return Error{Code::kInvalidArgument, fmt::format("--kill {}: rank {} is not one of {}",
                                                     options.kill, fault->rank, *options.ranks)};
  setup.machine.fault = options.kill;
  RINGLET_TRY_ASSIGN(setup.fault, MakeFolder(environment));
  setup.machine.fault_file = setup.fault->path() + "/struck";
  return Ok();
}

Result<EmulateSetup> SetUp(const EmulateOptions& options, const EnvMap& environment) {
  EmulateSetup setup;
  RINGLET_TRY(SetMemory(options, setup.machine));
  RINGLET_TRY(SetKernels(options, setup.machine));
  RINGLET_TRY(SetMachine(options, environment, setup));
  setup.machine.policy = options.policy;
  setup.machine.pace = options.pace;
  RINGLET_TRY(SetReport(options, environment, setup));
  RINGLET_TRY(SetFaults(options, environment, setup));
  return setup;
}

Result<EnvMap> EnvironmentFor(const EmulatedMachine& machine, EnvMap environment) {
  RINGLET_TRY_ASSIGN(const std::string tool, ToolPath());
  RINGLET_TRY_ASSIGN(const EmulateFolders folders,
                     FindEmulateFolders(tool, RINGLET_LIBRARY_FOLDER, IsThere));
  return EmulatedEnvironment(std::move(environment), folders, machine);
}

int CannotStart(const Error& error) {
  Fail(kEmulate, error);
  return kExitCannotStart;
}

/// Writes a report from the files of the ranks. Errors of the report do not fail the program.
void WriteReport(const EmulateOptions& options, const EmulateSetup& setup) {
  const auto report = ReadTraffic(setup.traffic->path());
  if (!report.ok()) return PrintNote(kEmulate, "no report was written: " + report.error().message);
  for (const std::string& finding : report->findings) PrintNote(kEmulate, finding);
  const Status written = os::WriteFile(options.report, JsonText(ToJson(*report)));
  if (!written.ok()) PrintNote(kEmulate, "--report: " + written.error().message);
}

/// Completes a command after its program has ended. Writes the report and checks that the fault has
/// struck, because a test of a fault must not pass without it.
/// \return  the program's exit status, or kExitFailed if --kill has killed no rank
int Conclude(const EmulateOptions& options, const EmulateSetup& setup, int status) {
  if (setup.traffic) WriteReport(options, setup);
  if (!setup.fault || IsThere(setup.machine.fault_file)) return status;
  PrintNote(
      kEmulate,
      fmt::format(
          "--kill {} did not kill a rank: the program ended before that rank began that operation",
          options.kill));
  return status == kExitDone ? static_cast<int>(kExitFailed) : status;
}

/// Runs one program in the foreground. This process becomes the program unless work remains after
/// its end. The program has the terminal, signals and exit status in both cases.
int RunOne(const EmulateOptions& options, const EnvMap& environment, EmulateSetup setup) {
  if (!setup.folder && !setup.traffic && !setup.fault)
    return CannotStart(os::BecomeProgram(options.program, environment));
  const auto ended = os::RunInForeground(options.program, environment);
  const int status = ended.ok() ? Conclude(options, setup, ended->status) : kExitCannotStart;
  setup = {};
  if (!ended.ok()) return CannotStart(ended.error());
  if (ended->signal != 0) os::ExitLike(*ended);
  return status;
}

/// Draws a name that is unique among the launches on this computer.
Result<std::string> DrawLaunch() {
  RINGLET_TRY_ASSIGN(const auto random, os::SecureRandom());
  constexpr std::size_t kLaunchBytes = 8;
  std::string launch;
  for (std::size_t i = 0; i < kLaunchBytes; ++i)
    launch += fmt::format("{:02x}", static_cast<unsigned>(random[i]));
  return launch;
}

int RunRanks(const EmulateOptions& options, const EnvMap& environment, const std::string& launch) {
  const auto spread = SpreadRanks(options.ranks, options.hosts.value_or(1));
  if (!spread.ok()) return Fail(kEmulate, spread.error());
  return RunJob({.command = kEmulate,
                 .program = options.program,
                 .ranks = spread->ranks,
                 .hosts = spread->hosts,
                 .grace_s = options.grace_s,
                 .keep_going = options.keep_going,
                 .environment = [&](std::uint32_t host) {
                   return EmulatedHostEnvironment(environment, host, spread->hosts, launch);
                 }});
}

Result<std::vector<MachineSummary>> NamedMachines() {
  RINGLET_TRY_ASSIGN(const std::string folder, MachineFolder());
  RINGLET_TRY_ASSIGN(const std::vector<std::string> names, MachineNames(folder));
  std::vector<MachineSummary> machines;
  for (const std::string& name : names) {
    const std::string path = MachineFile(folder, name);
    RINGLET_TRY_ASSIGN(const std::string text, ReadUserFile(path, topology::kXmlBytesMax));
    RINGLET_TRY_ASSIGN(const topology::HostView view, topology::ViewFromXml(text, path));
    machines.push_back(Summarize(name, path, view));
  }
  return machines;
}

int ListMachines(bool json) {
  const auto machines = NamedMachines();
  if (!machines.ok()) return Fail(kEmulate, machines.error());
  if (json)
    fmt::print("{}", MachineListJson(*machines));
  else
    PrintFitted(MachineListText(*machines));
  return kExitDone;
}

int Run(const EmulateOptions& options) {
  if (options.list) return ListMachines(options.json);
  if (options.program.empty())
    return Fail(kEmulate, Error{Code::kInvalidArgument,
                                "no program; write ringlet emulate -- PROGRAM ARGUMENTS..."});
  EnvMap base = os::ReadEnvironment();
  auto setup = SetUp(options, base);
  if (!setup.ok()) return Fail(kEmulate, setup.error());
  auto environment = EnvironmentFor(setup->machine, std::move(base));
  if (!environment.ok()) return Fail(kEmulate, environment.error());
  const auto launch = DrawLaunch();
  if (!launch.ok()) return Fail(kEmulate, launch.error());
  if (!setup->slow.empty())
    (*environment)["RINGLET_SLOW"] = SlowSetting(setup->slow, options.hosts.value_or(1), *launch);
  if (const Status shown = ShowSys(options, *setup); !shown.ok())
    return Fail(kEmulate, shown.error());
  if (options.ranks || options.hosts) {
    const int status = RunRanks(options, *environment, *launch);
    return Conclude(options, *setup, status);
  }
  if (options.keep_going)
    return Fail(kEmulate, Error{Code::kInvalidArgument,
                                "--keep-going needs ranks that this command starts: add -n"});
  return RunOne(options, *environment, *std::move(setup));
}

void AddMachineOptions(CLI::App& emulate, EmulateOptions& options) {
  emulate
      .add_option("--machine", options.machine,
                  "Machine to emulate: a name of --list-machines, a topology file, or a "
                  "description in words")
      ->type_name(kMachineType);
  emulate
      .add_option(
          "--devices", options.devices,
          fmt::format("Number of devices; default: all of the machine, or {}", kPlainDevices))
      ->check(CLI::Range(1u, kEmulatedDevicesMax));
  emulate
      .add_option("--policy", options.policy,
                  "Channels on the machine: those of NCCL (compat) or the best; default: "
                  "RINGLET_PLAN_POLICY, or compat")
      ->check(CLI::IsMember({"best", "compat"}));
  emulate
      .add_option("--drop-nvlink", options.without_nvlink,
                  "GPU that loses its NVLinks; may be repeated")
      ->expected(1)
      ->take_all();
  emulate
      .add_option("--sysfs", options.sysfs,
                  "Show the program a /sys with PCI, NICs and NUMA nodes of the machine: if this "
                  "user may (auto), always (on), with processors too (cpus), or never (off)")
      ->check(CLI::IsMember({"auto", "on", "cpus", "off"}))
      ->capture_default_str();
  emulate
      .add_option(
          "--report", options.report,
          "Write to this file the bytes on each link of the machine, measured and planned, "
          "and all calls with NCCL's predicted times, in the form of ringlet traffic --json")
      ->type_name(kFileType);
  emulate.add_flag("--pace", options.pace,
                   "Make collectives last as long as NCCL's model predicts for the machine, if "
                   "this computer is fast enough; --report counts the slower ones");
  CLI::Option* const list =
      emulate.add_flag("--list-machines", options.list, "List the named machines");
  emulate.add_flag("--json", options.json, "With --list-machines, print one object: machines")
      ->needs(list);
}

void AddRankOptions(CLI::App& emulate, EmulateOptions& options) {
  emulate
      .add_option("-n,--ranks", options.ranks,
                  "Number of processes of the program to start, as ringlet run does")
      ->check(CLI::Range(1u, kRunRanksMax));
  emulate
      .add_option("--hosts", options.hosts,
                  "Number of emulated hosts to spread the processes over, each with all devices; "
                  "without -n, one process per host")
      ->check(CLI::Range(1u, kRunRanksMax));
  emulate.add_option("--kill", options.kill,
                     "Rank to kill when it begins an operation: 3@all_reduce:10 is rank 3 at its "
                     "tenth all-reduce. The exit status is nonzero if that never happens");
  emulate
      .add_option("--slow", options.slow,
                  "Run a link of the machine at a fraction of its rate. Reports show the names: "
                  "link=NET2:0.1, or link=NET2@1:0.1 for host 1 only. --pace and --report use this "
                  "rate. May be repeated")
      ->expected(1)
      ->take_all();
  emulate
      .add_option("--grace", options.grace_s,
                  "Seconds between SIGTERM and SIGKILL after a rank has failed or the user has "
                  "stopped the program")
      ->type_name(kSecondsType)
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  AddKeepGoing(emulate, options.keep_going);
}

}  // namespace

void AddEmulate(CLI::App& tool, std::vector<std::string> program, Action& chosen) {
  CLI::App* emulate =
      tool.add_subcommand("emulate", "Run a program written for CUDA and NCCL without a GPU");
  emulate->footer(
      "The program and its arguments follow: ringlet emulate [OPTIONS] -- PROGRAM "
      "ARGUMENTS...\nThe program and its children load libnccl.so.2, libcudart, libcuda and "
      "libnvidia-ml of Ringlet:\ntheir devices use the memory of this computer. Kernels run only "
      "as functions of --kernels.\nWith --machine, CUDA and NVML report the devices, links and "
      "addresses of that machine.\nThe exit status is the program's; with -n or --hosts, as of "
      "ringlet run.");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<EmulateOptions>();
  options->program = std::move(program);
  AddMachineOptions(*emulate, *options);
  emulate
      ->add_option("--memory", options->memory,
                   fmt::format("Memory of each device, for each process; default: all devices "
                               "share the memory of this computer. {}",
                               kSizeUnitsHelp))
      ->type_name(kSizeType);
  emulate
      ->add_option("--kernels", options->kernels,
                   "A library with host functions for kernels; see ringlet/kernel.h")
      ->type_name(kFileType)
      ->expected(1)
      ->take_all();
  AddRankOptions(*emulate, *options);
  emulate->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
