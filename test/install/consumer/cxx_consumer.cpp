// A C++ program on the installed headers. The library must export its calls.
#include <ringlet/status.hpp>
#include <ringlet/types.hpp>
#include <ringlet/unique_id.hpp>

ringlet::Result<ringlet::DataType> Named(const char* name) {
  if (auto type = ringlet::DataTypeNamed(name)) return *type;
  return ringlet::Error{.code = ringlet::Code::kInvalidArgument, .message = name};
}

int main() {
  const ringlet::Result<ringlet::DataType> half = Named("half");
  const ringlet::Result<ringlet::DataType> none = Named("no such type");
  if (!half.ok() || *half != ringlet::DataType::kFloat16) return 1;
  if (none.ok() || none.error().message != "no such type") return 1;
  if (ringlet::CodeName(none.error().code) == nullptr) return 1;
  return ringlet::UniqueId{} == ringlet::UniqueId{} ? 0 : 1;
}
