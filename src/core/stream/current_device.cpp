#include "stream/current_device.hpp"

namespace ringlet::stream {
namespace {

thread_local int current_device = 0;

}  // namespace

int CurrentDevice() {
  return current_device;
}

void SetCurrentDevice(int device) {
  current_device = device;
}

}  // namespace ringlet::stream
