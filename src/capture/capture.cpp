#include "capture/capture.hpp"

#include <map>
#include <set>

#include "base/value/text.hpp"
#include "capture/scrub.hpp"
#include "discovery/sysfs.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using Kind = FileTree::PathAccess::Kind;

/// Forwards a driver's report, and keeps it.
class Recorder : public GpuSource {
 public:
  explicit Recorder(GpuSource* source) : source_(source) {}
  Result<GpuReport> Read() override {
    Result<GpuReport> report = source_->Read();
    if (report.ok()) report_ = *report;
    return report;
  }
  const std::optional<GpuReport>& report() const { return report_; }

 private:
  GpuSource* source_;
  std::optional<GpuReport> report_;
};

/// The entries of a tree under construction, by path without a slash at either end.
class CaptureTree {
 public:
  explicit CaptureTree(const FileTree& files) : files_(files) {}

  void Add(Kind kind, const std::string& asked) {
    const std::string path = Real(ResolveLink("", asked));  // without "." and "//"
    switch (kind) {
      case Kind::kReadLink: return AddLink(path);
      case Kind::kRead: return AddFile(path);
      case Kind::kList: return AddFolder(path);
      case Kind::kExists: break;
    }
    if (!files_.Exists(path)) return;
    if (files_.List(path).ok()) {
      Put(path, {TarEntry::Kind::kFolder, {}, {}});
    } else {
      Put(path, {TarEntry::Kind::kFile, {}, {}});
    }
  }

  std::vector<TarEntry> Take() {
    std::vector<TarEntry> entries;
    for (auto& [path, entry] : entries_) {
      entry.path = path.substr(1);
      if (!entry.path.empty()) entries.push_back(std::move(entry));
    }
    return entries;
  }

 private:
  /// Returns `path` with known links replaced, because nothing lies below a link.
  std::string Real(std::string path) const {
    constexpr int kLinksMax = 40;
    for (int i = 0; i < kLinksMax; ++i) {
      bool changed = false;
      for (std::size_t at = path.find('/', 1); at != std::string::npos && !changed;
           at = path.find('/', at + 1)) {
        const auto link = entries_.find(path.substr(0, at));
        if (link == entries_.end() || link->second.kind != TarEntry::Kind::kLink) continue;
        path = ResolveLink("", ResolveLink(link->first, link->second.content) + path.substr(at));
        changed = true;
      }
      if (!changed) break;
    }
    return path;
  }

  void AddLink(const std::string& path) {
    const Result<std::string> target = files_.ReadLink(path);
    if (target.ok()) Put(path, {TarEntry::Kind::kLink, {}, *target});
  }
  void AddFile(const std::string& path) {
    const Result<std::string> content = files_.Read(path);
    if (content.ok()) Put(path, {TarEntry::Kind::kFile, {}, *content});
  }
  void AddFolder(const std::string& path) {
    const Result<std::vector<std::string>> names = files_.List(path);
    if (!names.ok()) return;
    Put(path, {TarEntry::Kind::kFolder, {}, {}});
    for (const std::string& name : *names) {
      const std::string below = path + "/" + name;
      if (entries_.count(below) == 0) Put(below, {TarEntry::Kind::kFile, {}, {}});
    }
  }

  /// Later knowledge replaces earlier: a listed name becomes a file, a folder or a link.
  void Put(const std::string& path, TarEntry entry) {
    if (path == "/") return;
    const auto at = entries_.find(path);
    if (at != entries_.end() && at->second.kind == TarEntry::Kind::kLink) return;
    if (at != entries_.end() && at->second.kind == TarEntry::Kind::kFile &&
        !at->second.content.empty())
      return;
    entries_[path] = std::move(entry);
    for (std::size_t slash = path.rfind('/'); slash != 0; slash = path.rfind('/', slash - 1)) {
      TarEntry& above = entries_[path.substr(0, slash)];
      if (above.kind == TarEntry::Kind::kFile) above = {TarEntry::Kind::kFolder, {}, {}};
    }
  }

  const FileTree& files_;
  std::map<std::string, TarEntry> entries_;
};

}  // namespace

Result<Capture> CaptureHost(FileTree& files, const ScanOptions& options) {
  Recorder driver(options.gpus);
  ScanOptions watched = options;
  if (options.gpus != nullptr) watched.gpus = &driver;
  std::vector<std::pair<Kind, std::string>> asked;
  std::set<std::pair<Kind, std::string>> seen;
  files.set_watcher([&](const FileTree::PathAccess& access) {
    std::pair<Kind, std::string> question(access.kind, access.path);
    if (seen.insert(question).second) asked.push_back(std::move(question));
  });
  Result<HostScan> scan = Scan(files, watched);
  files.set_watcher(nullptr);
  if (!scan.ok()) return std::move(scan).error();

  CaptureTree tree(files);
  for (const Kind kind : {Kind::kReadLink, Kind::kList, Kind::kExists, Kind::kRead})
    for (const auto& [each, path] : asked)
      if (each == kind) tree.Add(kind, path);
  std::vector<TarEntry> entries = Scrub(tree.Take());
  if (driver.report()) {
    entries.push_back({TarEntry::Kind::kFolder, "ringlet", {}});
    entries.push_back(
        {TarEntry::Kind::kFile, std::string(kGpuTextPath.substr(1)), ToText(*driver.report())});
  }
  return Capture{*std::move(scan), std::move(entries)};
}

}  // namespace ringlet::discovery
