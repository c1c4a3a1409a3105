#include "ringlet/unique_id.hpp"
#include "comm/process/process_of_program.hpp"

#include <fmt/format.h>

#include <cstring>

#include "comm/establish/establish.hpp"
#include "comm/process/id_text.hpp"
#include "comm/service/thread.hpp"

namespace ringlet {

Result<UniqueId> UniqueId::Create(const Environment& environment) {
  return comm::Caught([&]() -> Result<UniqueId> {
    RINGLET_TRY_ASSIGN(const auto process, comm::ProcessOfProgram(environment));
    return comm::NextUniqueId(process);
  });
}

std::string UniqueId::ToText() const {
  return comm::ToText(*this);
}

Result<UniqueId> UniqueId::FromText(std::string_view text) {
  return comm::Caught([&] { return comm::FromText(text); });
}

Result<UniqueId> UniqueId::FromBytes(const void* data, std::size_t size) {
  if (size != kBytes || !data)
    return Error{Code::kInvalidArgument,
                 fmt::format("a unique id has {} bytes, not {}{}: pass them as they were made",
                             kBytes, size, data ? "" : " at a null pointer")};
  UniqueId id;
  std::memcpy(id.bytes.data(), data, kBytes);
  return id;
}

}  // namespace ringlet
