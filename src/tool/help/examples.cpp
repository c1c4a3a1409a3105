#include "tool/help/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collective/call/call.hpp"
#include "tool/operation/bench_operation.hpp"

namespace ringlet::cli {
namespace {

struct Example {
  std::string_view path;
  std::string_view words;  ///< follow the path
};

constexpr std::array kExamples = {
    Example{"", "bench all_reduce -n 4 --check"},
    Example{"", "run -n 2 ./program"},
    Example{"", "emulate --machine dgx-h100 -- ./all_reduce_perf -g 8"},
    Example{"", "topo show"},
    Example{"", "help bench all_reduce"},
    Example{"", "help exit-codes"},
    Example{"bench", "all_reduce -n 4 --check"},
    Example{"bench", "all_to_all -n 2 --vs gloo,openmpi"},
    Example{"bench", "--tune tuning.txt -n 4"},
    Example{"bench init", "-n 8,64,512"},
    Example{"bench init", "-n 64 --vs gloo --json"},
    Example{"bench reform", "-n 8,32 --kill 3"},
    Example{"bench reform", "-n 16 --which first --json"},
    Example{"bench plot", "all_reduce.json -o all_reduce.svg"},
    Example{"bench plot", "results.json --op all_reduce --ranks 4 -o all_reduce.svg"},
    Example{"bench plot", "- < all_reduce.json > all_reduce.svg"},
    Example{"run", "-n 4 ./program"},
    Example{"run", "-n 2 -- python3 train.py --epochs 1"},
    Example{"run", "-n 2 ./program < input.txt"},
    Example{"emulate", "--devices 8 -- ./all_reduce_perf -g 8"},
    Example{"emulate", "--machine dgx-h100 -- ./all_reduce_perf -g 8"},
    Example{"emulate", "--machine dgx-a100 --hosts 2 -n 16 -- python3 train.py"},
    Example{"emulate", "--list-machines"},
    Example{"emulate", "--devices 2 -- torchrun --nproc-per-node 2 train.py"},
    Example{"emulate", "--devices 4 --memory 1GiB --kernels ./libkernels.so -- ./program"},
    Example{"traffic", "traffic"},
    Example{"traffic", "traffic --machine dgx.xml -o traffic.svg"},
    Example{"traffic", "traffic --json > traffic.json"},
    Example{"status", ""},
    Example{"status", "4711 --json"},
    Example{"status", "--watch 2"},
    Example{"status", "--dump traces"},
    Example{"status", "4711 --metrics"},
    Example{"trace", "traces"},
    Example{"trace", "traces --perfetto operations.json"},
    Example{"trace", "traces --json --flight-recorder recorder"},
    Example{"ras", ""},
    Example{"ras", "--json --timeout 2"},
    Example{"ras", "--host node7 --port 28028 --verbose"},
    Example{"ras", "--monitor all"},
    Example{"doctor", ""},
    Example{"doctor", "--hosts \"node[01-16]\""},
    Example{"doctor", "--hostfile hosts.txt --json"},
    Example{"doctor", "--hosts a,b --ssh \"ssh -p 2222 -i key\" --prometheus > doctor.prom"},
    Example{"sim", "init -n 1000"},
    Example{"sim init", "-n 1000,10000 --ranks-per-host 8"},
    Example{"sim init", "-n 64 --latency 50us --bandwidth 10Gb/s --json"},
    Example{"sim reform", "-n 1024,16384 --kill 1%"},
    Example{"sim reform", "-n 4096 --kill 2 --which hosts --later 1 --json"},
    Example{"topo", "show"},
    Example{"topo", "lint topology.xml"},
    Example{"topo show", ""},
    Example{"topo show", "topology.xml"},
    Example{"topo show", "--synthetic \"2x(numa: 2x(switch: 2 gpu, 1 nic))\""},
    Example{"topo dump", "> topology.xml"},
    Example{"topo dump", "topology.xml --merge-nics PORT"},
    Example{"topo gather", ""},
    Example{"topo gather", "-o machine.tar.gz"},
    Example{"topo lint", "topology.xml"},
    Example{"topo lint", "- --strict < topology.xml"},
    Example{"topo lint", "topology.xml --graph graph.xml"},
    Example{"topo check", ""},
    Example{"topo check", "topology.xml --expect dgx-a100"},
    Example{"topo check", "dumps --json"},
    Example{"topo diff", "this topology.xml"},
    Example{"topo diff", "before.xml after.xml"},
    Example{"topo diff", "before.xml after.xml -o both.html"},
    Example{"topo complete", "--list"},
    Example{"topo complete", "skeleton.xml --gpu h100 --nvlink switch --nic-speed 400Gb/s"},
    Example{"topo matrix", "topology.xml"},
    Example{"topo matrix", "topology.xml --json"},
    Example{"topo path", "GPU0 GPU1 topology.xml"},
    Example{"topo path", "GPU0 mlx5_0 topology.xml --as-nccl"},
    Example{"topo draw", "-o machine.svg"},
    Example{"topo draw", "topology.xml -o machine.png --dark"},
    Example{"topo draw", "topology.xml -o machine.html"},
    Example{"topo fuse", "host0.xml host1.xml > cluster.xml"},
    Example{"plan", "topology.xml --hosts 4"},
    Example{"plan", "--ranks 8 --hosts 2 --json"},
    Example{"plan", "topology.xml --what-if \"GPU3 pcie=gen5x16\""},
    Example{"plan", "topology.xml --hosts 2 --by-channels"},
    Example{"plan draw", "topology.xml -o plan.svg"},
    Example{"plan draw", "topology.xml --hosts 2 -o plan.html"},
    Example{"plan draw", "topology.xml --load all_reduce -b 1GiB -o load.svg"},
    Example{"explain", "topology.xml"},
    Example{"explain", "topology.xml --trials"},
    Example{"explain", "all_reduce -n 8 -b 1MiB"},
    Example{"predict", "all_reduce topology.xml -b 1GiB"},
    Example{"predict", "all_gather topology.xml --hosts 4 -b 64M --json"},
    Example{"predict", "all_reduce topology.xml --hosts 2 --flows --json"},
    Example{"env", ""},
    Example{"env", "--json"},
    Example{"version", "--json"},
    Example{"help", "bench all_reduce"},
    Example{"help", "exit-codes"},
    Example{"help", "--markdown > cli.md"},
    Example{"help", "--man ~/.local/share/man/man1"},
    Example{"completion", "bash > /etc/bash_completion.d/ringlet"},
    Example{"completion", "zsh > ~/.zfunc/_ringlet"},
    Example{"completion", "fish > ~/.config/fish/completions/ringlet.fish"},
};

std::string ShellLine(std::string_view path, std::string_view words) {
  return fmt::format("ringlet{}{}{}{}", path.empty() ? "" : " ", path, words.empty() ? "" : " ",
                     words);
}

std::vector<std::string> OfOperation(std::string_view path, const BenchOperation& operation) {
  if (operation.kind == CallKind::kBarrier) return {ShellLine(path, "-n 8 --links shm")};
  std::vector<std::string> lines = {ShellLine(path, "-n 4 -e 1MiB --check")};
  if (collective::HasRoot(operation.kind)) lines.push_back(ShellLine(path, "-n 4 --root 3"));
  if (collective::Reduces(operation.kind)) lines.push_back(ShellLine(path, "-n 4 -d half -o max"));
  lines.push_back(ShellLine(path, fmt::format("-n 2 --vs gloo --json > {}.json", operation.name)));
  lines.push_back(ShellLine(path, "-n 4 --vs gloo,openmpi --output results.json"));
  return lines;
}

void AddExamplesOf(CLI::App& command, const std::string& path) {
  std::string text;
  for (const std::string& line : ExamplesOf(path)) text += fmt::format("  {}\n", line);
  std::string end = command.get_footer();
  if (!text.empty())
    command.footer("Examples:\n" + text + (end.empty() ? "" : "\n") + std::move(end));
  for (CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    AddExamplesOf(*one, path + (path.empty() ? "" : " ") + one->get_name());
}

}  // namespace

std::vector<std::string> ExamplesOf(std::string_view path) {
  std::vector<std::string> lines;
  for (const Example& example : kExamples)
    if (example.path == path) lines.push_back(ShellLine(path, example.words));
  if (!lines.empty()) return lines;
  const std::size_t last = path.rfind(' ') + 1;
  const BenchOperation* const operation = BenchOperationNamed(path.substr(last));
  if (path.starts_with("bench ") && operation != nullptr) return OfOperation(path, *operation);
  if (path.starts_with("explain "))
    return {ShellLine(path, "-n 8 --hosts 2 -b 1MiB"), ShellLine(path, "-n 4 --rank 0")};
  return lines;
}

void AddExamples(CLI::App& tool) {
  AddExamplesOf(tool, "");
}

}  // namespace ringlet::cli
