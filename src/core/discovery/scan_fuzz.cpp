// Builds a small tree of untrusted files, folders and links, and discovers the machine in it.
//
// A line of the input is an entry: "F PATH CONTENT", "L PATH TARGET" or "D PATH"; "|" in a content
// is a new line. It must be possible to write, send and capture the resulting view.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/value/text.hpp"
#include "capture/capture.hpp"
#include "discovery/fill.hpp"
#include "topology/xml/xml_writer.hpp"

namespace {

using ringlet::discovery::Capture;
using ringlet::discovery::ScanOptions;
using ringlet::discovery::TarEntry;
using ringlet::os::FileTree;
using ringlet::topology::HostView;

constexpr std::size_t kEntriesMax = 256;
constexpr std::size_t kPathBytesMax = 400;

/// A folder that is deleted with the program, even if an input ends it. It is in memory rather than
/// on disk, because each input creates and removes a tree.
class Folder {
 public:
  Folder() {
    const bool shm = std::filesystem::exists("/dev/shm");
    path_ = shm ? "/dev/shm/fuzz_scan_XXXXXX" : "/tmp/fuzz_scan_XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~Folder() { Remove(); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void Remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const Folder& TheFolder() {
  static const Folder folder;
  return folder;
}

void Require(bool condition) {
  if (condition) return;
  TheFolder().Remove();
  std::abort();
}

bool IsSafe(std::string_view path) {
  if (path.empty() || path.size() > kPathBytesMax || path.front() == '/') return false;
  for (const std::string_view part : ringlet::Split(path, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return path.find('\0') == std::string_view::npos;
}

void MakeParents(int root, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    (void)mkdirat(root, path.substr(0, slash).c_str(), 0700);
}

/// Skips an entry if another one is in the way.
void MakeEntry(int root, std::string_view line) {
  if (line.size() < 3 || line[1] != ' ') return;
  const char kind = line[0];
  line.remove_prefix(2);
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string path(line.substr(0, space));
  std::string content(line.substr(std::min(space + 1, line.size())));
  if (!IsSafe(path)) return;
  // Creates nothing outside the folder: an earlier link must not lead there.
  struct stat facts {};
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    if (fstatat(root, path.substr(0, slash).c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISDIR(facts.st_mode))
      return;
  MakeParents(root, path);
  if (kind == 'D') (void)mkdirat(root, path.c_str(), 0700);
  if (kind == 'L' && content.find('\0') == std::string::npos)
    (void)!symlinkat(content.c_str(), root, path.c_str());
  if (kind != 'F') return;
  const int file = openat(root, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (file < 0) return;
  for (char& c : content)
    if (c == '|') c = '\n';
  (void)!write(file, content.data(), content.size());
  close(file);
}

void Look(const std::string& folder, bool picks) {
  FileTree files = FileTree::Open(folder).value();
  const ScanOptions options{.host_name = "fuzz", .identity = 1, .interfaces = picks ? "e" : ""};
  const auto capture = ringlet::discovery::CaptureHost(files, options);
  if (!capture.ok()) return;
  const HostView& view = capture->scan.view;
  Require(view.Check().ok());
  ringlet::Writer out;
  ringlet::topology::Encode(out, view);
  ringlet::Reader in(out.view());
  Require(ringlet::topology::DecodeHostView(in) == view && in.AtEnd());
  Require(!ToXml(view).empty());
  const auto filled = ringlet::discovery::Fill(view, view);
  Require(filled.ok() && filled->pci == view.pci && filled->nets == view.nets);
  for (const TarEntry& entry : capture->entries) Require(!entry.path.empty());
  Require(ringlet::discovery::ToTar(capture->entries).size() % 512 == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string folder = TheFolder().path() + "/tree";
  Require(mkdir(folder.c_str(), 0700) == 0);
  const int root = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t entries = 0;
  for (const std::string_view line : ringlet::Split(text, '\n'))
    if (++entries <= kEntriesMax) MakeEntry(root, line);
  close(root);
  Look(folder, size % 2 == 1);
  std::filesystem::remove_all(folder);
  return 0;
}
