#include "emulate/host/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/value/text.hpp"
#include "emulate/host/parameters.hpp"

namespace ringlet::cuda {
namespace {

constexpr std::size_t kShownBytesMax = 300;

Status CheckSizes(const std::vector<std::size_t>& sizes) {
  if (sizes.size() <= kParametersMax &&
      std::ranges::all_of(
          sizes, [](std::size_t size) { return size > 0 && size <= kParameterBytesMax; }) &&
      std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) <= kParameterBytesMax)
    return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("a kernel takes at most {} parameters of 1 to {} bytes, {} bytes in all",
                           kParametersMax, kParameterBytesMax, kParameterBytesMax)};
}

// Normalises spaces: "scale( float * , int )" becomes "scale(float*, int)".
std::string Normal(std::string_view name) {
  std::string normal;
  for (const char c : Trim(name)) {
    const bool mark = c == '*' || c == '&' || c == ',' || c == ')' || c == '(' || c == '>';
    while (mark && normal.ends_with(' ')) normal.pop_back();
    if (c == ' ' && (normal.ends_with('(') || normal.ends_with(','))) continue;
    normal += c;
  }
  return normal;
}

// PyTorch launches kernels even if its caller requests no arithmetic: its collectives of objects
// compare sizes on the device.
constexpr const char* kHostCompute =
    "; PyTorch's arithmetic on \"cuda\" tensors runs inside `with ringlet.torch.HostCompute():`, "
    "and its collectives of objects need it too";

bool IsOfPyTorch(std::string_view demangled) {
  return demangled.find("at::native::") != std::string_view::npos ||
         demangled.find("at_cuda_detail::") != std::string_view::npos;
}

}  // namespace

Status Kernels::Register(std::string name, ringlet_host_kernel_function function,
                         std::optional<std::vector<std::size_t>> sizes) {
  if (name.empty() || function == nullptr)
    return Error{Code::kInvalidArgument, "a host kernel needs a name and a function"};
  if (sizes) RINGLET_TRY(CheckSizes(*sizes));
  const std::lock_guard lock(mutex_);
  functions_[Normal(name)] = {function, std::move(sizes)};
  return Ok();
}

void Kernels::Bind(const void* stub, std::string name) {
  const std::lock_guard lock(mutex_);
  names_[stub] = std::move(name);
}

std::optional<std::string> Kernels::NameOf(const void* stub) const {
  const std::lock_guard lock(mutex_);
  const auto at = names_.find(stub);
  return at == names_.end() ? std::nullopt : std::optional(at->second);
}

const Kernels::HostFunction* Kernels::FindName(const std::string& name,
                                               const std::string& demangled) const {
  for (const std::string& form : {name, Normal(demangled), Normal(BareName(demangled))})
    if (const auto at = functions_.find(form); at != functions_.end()) return &at->second;
  return nullptr;
}

Result<HostKernel> Kernels::Find(const void* stub) const {
  const auto name = NameOf(stub);
  if (!name)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not a kernel of this program", fmt::ptr(stub))};
  const std::string demangled = Demangled(*name);
  const std::lock_guard lock(mutex_);
  const HostFunction* const found = FindName(*name, demangled);
  if (found == nullptr)
    return Error{Code::kUnsupported,
                 fmt::format("the kernel {} cannot run on the host: no library of --kernels "
                             "registers a function for {}{}",
                             Printable(demangled, kShownBytesMax), Printable(*name, kShownBytesMax),
                             IsOfPyTorch(demangled) ? kHostCompute : "")};
  auto sizes = found->sizes ? found->sizes : ParameterSizes(demangled);
  if (!sizes)
    return Error{Code::kUnsupported,
                 fmt::format("the sizes of the parameters of the kernel {} do not follow from its "
                             "name: register it with ringlet_host_kernel_sized",
                             Printable(demangled, kShownBytesMax))};
  return HostKernel{*name, found->run, *std::move(sizes)};
}

}  // namespace ringlet::cuda
