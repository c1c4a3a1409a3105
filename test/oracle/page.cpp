#include "page.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

namespace oracle {

SharedPage::SharedPage() : descriptor_(memfd_create("oracle", 0)) {
  if (descriptor_ < 0 || ftruncate(descriptor_, sizeof(Page)) != 0)
    throw std::runtime_error("no shared memory for the oracle's own page");
  Map();
  new (page_) Page;
}

SharedPage::SharedPage(int descriptor) : descriptor_(descriptor) {
  Map();
}

SharedPage::~SharedPage() {
  munmap(page_, sizeof(Page));
  close(descriptor_);
}

void SharedPage::Map() {
  void* at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (at == MAP_FAILED) throw std::runtime_error("the oracle's own page cannot be mapped");
  page_ = static_cast<Page*>(at);
}

}  // namespace oracle
