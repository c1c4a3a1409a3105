// Runs a fuzzer's entry over the files of a folder, and over small changes of each, without
// libFuzzer. So every compiler and every sanitizer covers them.
//
//   NAME_replay FOLDER [SEED]
//
// Add a file of a fuzzer's crash to the folder after the repair of its cause.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/value/prng.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kChangesPerFile = 300;

using Input = std::vector<std::uint8_t>;

Input ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  return Input(bytes.begin(), bytes.end());
}

void Change(Input& input, ringlet::Prng& prng) {
  for (std::uint64_t left = 1 + prng.Below(4); left > 0; --left) {
    const std::size_t at = prng.Below(input.size() + 1);
    const auto where = input.begin() + static_cast<std::ptrdiff_t>(at);
    if (at == input.size() || prng.Chance(0.2))
      input.insert(where, static_cast<std::uint8_t>(prng.Next()));
    else if (prng.Chance(0.2))
      input.erase(where);
    else
      input[at] = static_cast<std::uint8_t>(prng.Next());
  }
}

void Run(const Input& input) {
  // A copy of the exact size exposes a read beyond its end.
  const Input exact(input);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::uint64_t seed = 1;
  if (const std::string_view text = argc > 2 ? argv[2] : ""; !text.empty())
    std::from_chars(text.data(), text.data() + text.size(), seed);
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::printf("there is no file in %s\n", argv[1]);
    return 1;
  }
  Run({});
  for (const std::filesystem::path& file : files) {
    std::printf("%s, changed %d times from seed %llu\n", file.c_str(), kChangesPerFile,
                static_cast<unsigned long long>(seed));
    std::fflush(stdout);  // the last line before a crash names the file
    const Input input = ReadFile(file);
    Run(input);
    ringlet::Prng prng(seed);
    for (int i = 0; i < kChangesPerFile; ++i) {
      Input changed = input;
      Change(changed, prng);
      Run(changed);
    }
  }
  return 0;
}
