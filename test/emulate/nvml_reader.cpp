// Prints our NVML reader's findings; machines_test.py runs it on emulated machines.
#include <cstdio>

#include "discovery/nvml.hpp"

int main() {
  ringlet::discovery::Nvml nvml;
  const auto report = nvml.Read();
  if (!report.ok()) {
    std::fputs(report.error().message.c_str(), stderr);
    return 1;
  }
  for (const std::string& missing : report->missing) std::fputs((missing + "\n").c_str(), stderr);
  std::fputs(ringlet::discovery::ToText(*report).c_str(), stdout);
  return 0;
}
