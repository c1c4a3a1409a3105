// Replaces standard input by a text.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace ringlet::cli {

/// Standard input reads this text until the end of the scope.
class InputForTest {
 public:
  explicit InputForTest(std::string_view text) : before_(::dup(STDIN_FILENO)) {
    std::FILE* const file = std::tmpfile();
    std::fwrite(text.data(), 1, text.size(), file);
    std::rewind(file);
    ::dup2(::fileno(file), STDIN_FILENO);
    std::fclose(file);
    std::clearerr(stdin);  // clears the end of an earlier input
  }
  InputForTest(const InputForTest&) = delete;
  InputForTest& operator=(const InputForTest&) = delete;
  ~InputForTest() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

}  // namespace ringlet::cli
