#include "ringlet/status.hpp"

#include <cstdio>
#include <cstdlib>

namespace ringlet {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kUnsupported: return "unsupported";
    case Code::kPeerLost: return "peer lost";
    case Code::kTimeout: return "timeout";
    case Code::kProtocol: return "protocol error";
    case Code::kSystem: return "system error";
    case Code::kAborted: return "aborted";
  }
  return "unknown";
}

void AssertionFailed(const char* condition, const char* file, int line) {
  std::fputs(("ringlet: broken invariant: " + std::string(condition) + " at " + file + ":" +
              std::to_string(line) + "\n")
                 .c_str(),
             stderr);
  std::abort();
}

}  // namespace ringlet
