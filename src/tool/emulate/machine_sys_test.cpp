#include "tool/emulate/machine_sys.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

TEST(MachineSysTest, AProcessSeesThePciFunctionsOfTheMachine) {
  constexpr int kNotAllowed = 77;
  const auto view = topology::ParseSynthetic("2 gpu a10g").value();
  const std::string gpu = "/sys/bus/pci/devices/" + ToString(view.pci[view.gpus[0].pci].bus);
  const pid_t child = ::fork();
  if (child == 0) {
    const Status shown = ShowMachineSys(view, testbed::SysCpus::kComputer);
    if (!shown.ok()) ::_exit(shown.error().code == Code::kUnsupported ? kNotAllowed : 1);
    std::error_code ignored;
    ::_exit(std::filesystem::exists(gpu + "/vendor", ignored) ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "no mount namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ringlet::cli
