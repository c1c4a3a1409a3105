// The answers that the tests of the reductions need of Highway's library, which is not there for
// AArch64: here all is compiled for one set of instructions, which every such processor has.
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
