// The command-line tool `ringlet`.
#include "tool/tool.hpp"

int main(int argument_count, char** arguments) {
  return ringlet::cli::RunTool(
      {arguments + (argument_count > 0 ? 1 : 0), arguments + argument_count});
}
