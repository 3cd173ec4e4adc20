#include "python/zygote/text_pages.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "python/zygote/huge_page.h"

namespace glovebox::zygote {
namespace {

struct Segment {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int protection = 0;
};

// The program's own, in the order of their addresses. It is the first that is told of.
int ListSegments(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& segments = *static_cast<std::vector<Segment>*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    segments.push_back({begin, begin + header.p_memsz,
                        ((header.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                            ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                            ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0)});
  }
  return 1;
}

// Whole pages only; what lies between a segment and the next one, at `next`, belongs to nobody.
void Move(const Segment& segment, std::uintptr_t next) {
  const std::uintptr_t begin = HugePageUp(segment.begin);
  const std::uintptr_t end = HugePageUp(segment.end) <= HugePageDown(next)
                                 ? HugePageUp(segment.end)
                                 : HugePageDown(segment.end);
  if (begin >= end) return;
  const std::size_t size = end - begin;
  void* reserved =
      ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return;
  const auto lowest = reinterpret_cast<std::uintptr_t>(reserved);
  void* copy = At(HugePageUp(lowest));
  const bool moved =
      ::madvise(copy, size, MADV_HUGEPAGE) == 0 &&
      std::memcpy(copy, At(begin), std::min(segment.end, end) - begin) == copy &&
      ::mprotect(copy, size, segment.protection) == 0 &&
      // In one step: the code that runs is in what is replaced.
      ::mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, At(begin)) != MAP_FAILED;
  if (!moved) {
    ::munmap(reserved, size + kHugePage);
    return;
  }
  if (HugePageUp(lowest) > lowest) ::munmap(reserved, HugePageUp(lowest) - lowest);
  const std::uintptr_t rest = HugePageUp(lowest) + size;
  ::munmap(At(rest), lowest + size + kHugePage - rest);
}

}  // namespace

void MoveTextToHugePages() {
  std::vector<Segment> segments;
  ::dl_iterate_phdr(&ListSegments, &segments);
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    // What may be written is the box's own anyway. The first segment is for the loader alone.
    const bool used = i > 0 && (segments[i].protection & PROT_WRITE) == 0;
    if (used) Move(segments[i], segments[i + 1].begin);
  }
}

}  // namespace glovebox::zygote
