// Stands in for Highway's library, which is missing for AArch64: gives the tests of the reductions
// the answers that they need. All code here is compiled for one set of instructions, common to
// every such processor.
#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() {
  return HWY_STATIC_TARGET;
}
void SetSupportedTargetsForTest(int64_t) {}
ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
