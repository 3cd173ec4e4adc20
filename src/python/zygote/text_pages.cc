#include "python/zygote/text_pages.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace glovebox::zygote {
namespace {

constexpr std::uintptr_t kHugePage = 2u << 20;

std::uintptr_t Down(std::uintptr_t address) { return address & ~(kHugePage - 1); }
std::uintptr_t Up(std::uintptr_t address) { return Down(address + kHugePage - 1); }

struct Text {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::uintptr_t next = UINTPTR_MAX;  // where the program goes on
};

// The program itself is the first that is told of.
int FindText(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  Text& text = *static_cast<Text*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if ((segment.p_flags & PF_X) != 0) {
      text.begin = begin;
      text.end = begin + segment.p_memsz;
    } else if (text.end != 0) {
      text.next = std::min(text.next, begin);
    }
  }
  return 1;
}

}  // namespace

void MoveTextToHugePages() {
  Text text;
  ::dl_iterate_phdr(&FindText, &text);
  // Whole pages only; what lies between the segments belongs to nobody.
  const std::uintptr_t begin = Up(text.begin);
  const std::uintptr_t end = Up(text.end) <= Down(text.next) ? Up(text.end) : Down(text.end);
  if (text.end == 0 || begin >= end) return;
  const std::size_t size = end - begin;
  void* reserved =
      ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return;
  const auto lowest = reinterpret_cast<std::uintptr_t>(reserved);
  void* copy = reinterpret_cast<void*>(Up(lowest));
  const bool moved = ::madvise(copy, size, MADV_HUGEPAGE) == 0 &&
                     std::memcpy(copy, reinterpret_cast<const void*>(begin),
                                 std::min(text.end, end) - begin) == copy &&
                     ::mprotect(copy, size, PROT_READ | PROT_EXEC) == 0 &&
                     // In one step: the code that runs is in what is replaced.
                     ::mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
                              reinterpret_cast<void*>(begin)) != MAP_FAILED;
  if (!moved) {
    ::munmap(reserved, size + kHugePage);
    return;
  }
  if (Up(lowest) > lowest) ::munmap(reserved, Up(lowest) - lowest);
  const std::uintptr_t rest = Up(lowest) + size;
  ::munmap(reinterpret_cast<void*>(rest), lowest + size + kHugePage - rest);
}

}  // namespace glovebox::zygote
