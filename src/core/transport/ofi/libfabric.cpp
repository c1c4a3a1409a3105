#include "transport/ofi/libfabric.hpp"

#ifndef RINGLET_LIBFABRIC

namespace ringlet::transport::ofi {

Result<std::shared_ptr<Fabric>> OpenLibfabric(const LibfabricOptions&) {
  return Error{Code::kUnsupported,
               "this Ringlet was built without libfabric: build it where rdma/fabric.h is found "
               "(Debian's libfabric-dev)"};
}

}  // namespace ringlet::transport::ofi

#else

#include <fmt/format.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/value/text.hpp"
#include "os/fs/shared_library.hpp"
#include "transport/ofi/endpoint_address.hpp"

namespace ringlet::transport::ofi {
namespace {

constexpr std::size_t kShownBytesMax = 200;

/// Exported functions of the library. All other functions are in tables of its objects.
struct Functions {
  decltype(::fi_getinfo)* getinfo;
  decltype(::fi_freeinfo)* freeinfo;
  decltype(::fi_dupinfo)* dupinfo;
  decltype(::fi_fabric)* fabric;
  decltype(::fi_strerror)* strerror;
};

Result<Functions> FindAll(const os::SharedLibrary& library) {
  const Functions f{
      .getinfo = library.Find<decltype(::fi_getinfo)>("fi_getinfo"),
      .freeinfo = library.Find<decltype(::fi_freeinfo)>("fi_freeinfo"),
      .dupinfo = library.Find<decltype(::fi_dupinfo)>("fi_dupinfo"),
      .fabric = library.Find<decltype(::fi_fabric)>("fi_fabric"),
      .strerror = library.Find<decltype(::fi_strerror)>("fi_strerror"),
  };
  if (f.getinfo == nullptr || f.freeinfo == nullptr || f.dupinfo == nullptr ||
      f.fabric == nullptr || f.strerror == nullptr)
    return Error{Code::kUnsupported, "libfabric.so.1 lacks functions that every libfabric has"};
  return f;
}

/// Closes an object of the library.
template <typename Object>
struct Closer {
  void operator()(Object* object) const { fi_close(&object->fid); }
};
template <typename Object>
using Owned = std::unique_ptr<Object, Closer<Object>>;

class RegisteredMemory final : public Memory {
 public:
  explicit RegisteredMemory(std::size_t bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, RoundUp(bytes)))),
        bytes_(bytes) {}
  std::span<std::byte> bytes() override { return {memory_.get(), memory_ ? bytes_ : 0}; }
  void* registration() const override { return region_ ? fi_mr_desc(region_.get()) : nullptr; }
  int Register(fid_domain* domain) {
    fid_mr* region = nullptr;
    const int rc =
        fi_mr_reg(domain, memory_.get(), bytes_, FI_SEND | FI_RECV, 0, 0, 0, &region, nullptr);
    if (rc == 0) region_.reset(region);
    return rc;
  }

 private:
  static constexpr std::size_t kAlignment = 4096;
  static std::size_t RoundUp(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_;
  Owned<fid_mr> region_;  // last, so that it is destroyed first
};

class Libfabric final : public Fabric {
 public:
  Libfabric(os::SharedLibrary library, const Functions& functions)
      : library_(std::move(library)), f_(functions), info_(nullptr, functions.freeinfo) {}
  ~Libfabric() override {
    endpoint_.reset();
    retired_.clear();
  }

  Status Open(const LibfabricOptions& options);

  const std::string& provider() const override { return provider_; }
  View name() const override { return name_; }
  std::uint64_t tag_mask() const override { return tag_mask_; }
  int descriptor() const override { return descriptor_; }
  bool Arm() override;
  Result<PeerAddress> Reach(View name) override;
  Result<std::shared_ptr<Memory>> Allocate(std::size_t bytes) override;
  Result<bool> Send(PeerAddress to, std::uint64_t tag, Slot& slot, std::size_t bytes) override;
  Result<bool> Receive(std::uint64_t tag, Slot& slot) override;
  std::size_t Progress() override;

 private:
  using Info = std::unique_ptr<fi_info, decltype(::fi_freeinfo)*>;

  Result<Info> Hints(const LibfabricOptions& options) const;
  Result<Info> Find(const LibfabricOptions& options) const;
  Status OpenQueue();
  Status OpenEndpoint();
  std::string Words(std::int64_t rc) const {
    return Printable(f_.strerror(static_cast<int>(-rc)), kShownBytesMax);
  }
  Error Failed(std::string_view what, std::int64_t rc) const {
    return Error{Code::kSystem,
                 fmt::format("libfabric ({}) cannot {}: {}",
                             provider_.empty() ? "no provider yet" : provider_, what, Words(rc))};
  }
  Result<bool> CheckStarted(Slot& slot, std::int64_t rc) const;
  bool SettleFailed();

  // Declared in order of creation, so that destruction runs in reverse.
  os::SharedLibrary library_;
  const Functions f_;
  Info info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_av> addresses_;
  Owned<fid_cq> queue_;
  Owned<fid_ep> endpoint_;
  std::string provider_;
  Bytes name_;
  std::uint64_t tag_mask_ = 0;
  int descriptor_ = -1;
  bool registers_ = false;
};

// ---- finding a provider -------------------------------------------------------------------------

/// Makes a copy that the library frees together with the hints.
char* CopyForC(const std::string& text) {
  return ::strdup(text.c_str());
}

/// Returns the host number for getaddrinfo. Empty for other kinds and for addresses with a scope.
std::string HostNumber(const Address& source) {
  if (source.scope != 0) return "";
  Address address = source;
  address.port = 0;
  const std::string text = ToString(address);  // "10.0.0.5:0" or "[::1]:0"
  if (address.kind == Address::Kind::kIpv4) return text.substr(0, text.rfind(':'));
  if (address.kind == Address::Kind::kIpv6) return text.substr(1, text.rfind(']') - 1);
  return "";
}

Result<Libfabric::Info> Libfabric::Hints(const LibfabricOptions& options) const {
  Info hints(f_.dupinfo(nullptr), f_.freeinfo);
  if (!hints) return Error{Code::kSystem, "libfabric has no memory left"};
  hints->caps = FI_TAGGED | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  // One thread at a time calls, when it waits, so the provider needs neither locks nor threads.
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  if (!options.provider.empty()) hints->fabric_attr->prov_name = CopyForC(options.provider);
  return hints;
}

/// Returns the library's first match at the requested address or, failing that, at any address.
Result<Libfabric::Info> Libfabric::Find(const LibfabricOptions& options) const {
  constexpr std::uint32_t kVersion = FI_VERSION(1, 14);
  RINGLET_TRY_ASSIGN(const Info hints, Hints(options));
  const std::string source = HostNumber(options.source);
  fi_info* found = nullptr;
  int rc = -FI_ENODATA;
  if (!source.empty())
    rc = f_.getinfo(kVersion, source.c_str(), nullptr, FI_SOURCE | FI_NUMERICHOST, hints.get(),
                    &found);
  if (rc != 0) rc = f_.getinfo(kVersion, nullptr, nullptr, 0, hints.get(), &found);
  if (rc == 0 && found != nullptr) return Info(found, f_.freeinfo);
  const std::string named =
      options.provider.empty() ? "no provider" : fmt::format("no provider {}", options.provider);
  return Error{Code::kUnsupported,
               fmt::format("libfabric has {} of reliable tagged messages on this host: {}",
                           Printable(named, kShownBytesMax), Words(rc))};
}

// ---- opening ------------------------------------------------------------------------------------

Status Libfabric::Open(const LibfabricOptions& options) {
  RINGLET_TRY_ASSIGN(info_, Find(options));
  provider_ = info_->fabric_attr->prov_name != nullptr ? info_->fabric_attr->prov_name : "?";
  registers_ = (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  const auto tag_bits = static_cast<int>(std::bit_width(info_->ep_attr->mem_tag_format));
  constexpr int kTagBitsMin = 32;
  if (tag_bits < kTagBitsMin)
    return Error{Code::kUnsupported,
                 fmt::format("libfabric's provider {} compares {} bits of a tag; {} are needed",
                             provider_, tag_bits, kTagBitsMin)};
  tag_mask_ = ~std::uint64_t{0} >> (64 - tag_bits);
  fid_fabric* fabric = nullptr;
  if (const int rc = f_.fabric(info_->fabric_attr, &fabric, nullptr); rc != 0)
    return Failed("open its fabric", rc);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  if (const int rc = fi_domain(fabric, info_.get(), &domain, nullptr); rc != 0)
    return Failed("open its domain", rc);
  domain_.reset(domain);
  RINGLET_TRY(OpenQueue());
  return OpenEndpoint();
}

/// Opens the queue with a descriptor to sleep on, if the provider supports one.
Status Libfabric::OpenQueue() {
  fi_cq_attr attributes{};
  attributes.size = info_->tx_attr->size + info_->rx_attr->size;
  attributes.format = FI_CQ_FORMAT_MSG;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  int rc = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  if (rc == 0) {
    queue_.reset(queue);
    if (fi_control(&queue->fid, FI_GETWAIT, &descriptor_) == 0 && descriptor_ >= 0) return Ok();
    descriptor_ = -1;
    queue_.reset();
  }
  attributes.wait_obj = FI_WAIT_NONE;
  rc = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  if (rc != 0) return Failed("open a completion queue", rc);
  queue_.reset(queue);
  return Ok();
}

Status Libfabric::OpenEndpoint() {
  fi_av_attr attributes{};
  attributes.type = FI_AV_TABLE;
  fid_av* addresses = nullptr;
  if (const int rc = fi_av_open(domain_.get(), &attributes, &addresses, nullptr); rc != 0)
    return Failed("open an address table", rc);
  addresses_.reset(addresses);
  fid_ep* endpoint = nullptr;
  if (const int rc = fi_endpoint(domain_.get(), info_.get(), &endpoint, nullptr); rc != 0)
    return Failed("open an endpoint", rc);
  endpoint_.reset(endpoint);
  int rc = fi_ep_bind(endpoint, &addresses->fid, 0);
  if (rc == 0) rc = fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV);
  if (rc == 0) rc = fi_enable(endpoint);
  if (rc != 0) return Failed("start an endpoint", rc);
  name_.resize(kNameBytesMax);
  std::size_t bytes = name_.size();
  rc = fi_getname(&endpoint->fid, name_.data(), &bytes);
  if (rc != 0 || bytes > name_.size()) return Failed("name its endpoint", rc);
  name_.resize(bytes);
  return Ok();
}

Result<Fabric::PeerAddress> Libfabric::Reach(View name) {
  // A provider reads as many bytes as its own names have.
  if (name.size() != name_.size())
    return Error{Code::kProtocol,
                 fmt::format("a name of {} bytes for an endpoint of {}; they have {}", name.size(),
                             provider_, name_.size())};
  fi_addr_t address = FI_ADDR_UNSPEC;
  const int inserted = fi_av_insert(addresses_.get(), name.data(), 1, &address, 0, nullptr);
  if (inserted != 1) return Failed("take a peer's address", inserted < 0 ? inserted : -FI_EINVAL);
  return static_cast<PeerAddress>(address);
}

Result<std::shared_ptr<Memory>> Libfabric::Allocate(std::size_t bytes) {
  auto memory = std::make_shared<RegisteredMemory>(bytes);
  if (memory->bytes().size() != bytes)
    return Error{Code::kSystem, fmt::format("no memory for {} bytes of a link's buffers", bytes)};
  if (registers_)
    if (const int rc = memory->Register(domain_.get()); rc != 0)
      return Failed("register a link's buffers", rc);
  return std::shared_ptr<Memory>(std::move(memory));
}

// ---- messages -----------------------------------------------------------------------------------

Result<bool> Libfabric::CheckStarted(Slot& slot, std::int64_t rc) const {
  if (rc == -FI_EAGAIN) return false;
  if (rc != 0) return Error{Code::kPeerLost, Words(rc)};
  slot.pending = true;
  slot.bytes = 0;
  slot.failure.clear();
  return true;
}

Result<bool> Libfabric::Send(PeerAddress to, std::uint64_t tag, Slot& slot, std::size_t bytes) {
  RINGLET_ASSERT(!slot.pending && bytes <= slot.buffer.size());
  return CheckStarted(slot, fi_tsend(endpoint_.get(), slot.buffer.data(), bytes, slot.registration,
                                     static_cast<fi_addr_t>(to), tag, slot.for_provider.data()));
}

Result<bool> Libfabric::Receive(std::uint64_t tag, Slot& slot) {
  RINGLET_ASSERT(!slot.pending);
  return CheckStarted(
      slot, fi_trecv(endpoint_.get(), slot.buffer.data(), slot.buffer.size(), slot.registration,
                     FI_ADDR_UNSPEC, tag, 0, slot.for_provider.data()));
}

Slot& SlotOf(void* context) {
  static_assert(offsetof(Slot, for_provider) == 0);
  return *static_cast<Slot*>(context);
}

std::size_t Libfabric::Progress() {
  std::array<fi_cq_msg_entry, 16> entries;
  std::size_t settled = 0;
  for (;;) {
    const ssize_t count = fi_cq_read(queue_.get(), entries.data(), entries.size());
    if (count == -FI_EAVAIL && SettleFailed()) {
      ++settled;
      continue;
    }
    if (count <= 0) return settled;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      Slot& slot = SlotOf(entries[i].op_context);
      slot.pending = false;
      slot.bytes = entries[i].len;
    }
    settled += static_cast<std::size_t>(count);
    if (static_cast<std::size_t>(count) < entries.size()) return settled;
  }
}

bool Libfabric::SettleFailed() {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(queue_.get(), &entry, 0) != 1) return false;
  if (entry.op_context == nullptr) return true;
  Slot& slot = SlotOf(entry.op_context);
  slot.pending = false;
  slot.failure = Words(-entry.err);
  ++failures_;
  return true;
}

bool Libfabric::Arm() {
  if (Progress() > 0) return false;
  if (descriptor_ < 0) return true;
  fid* queue = &queue_->fid;
  return fi_trywait(fabric_.get(), &queue, 1) == 0;
}

}  // namespace

Result<std::shared_ptr<Fabric>> OpenLibfabric(const LibfabricOptions& options) {
  RINGLET_TRY_ASSIGN(
      os::SharedLibrary library,
      os::SharedLibrary::Open("libfabric.so.1", os::SharedLibrary::Unloading::kForEver));
  RINGLET_TRY_ASSIGN(const Functions functions, FindAll(library));
  auto fabric = std::make_shared<Libfabric>(std::move(library), functions);
  RINGLET_TRY(fabric->Open(options));
  return std::shared_ptr<Fabric>(std::move(fabric));
}

}  // namespace ringlet::transport::ofi

#endif
