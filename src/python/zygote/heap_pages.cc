#include "python/zygote/heap_pages.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "python/zygote/huge_page.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, since Linux 6.1
// Larger gaps are left: few blocks are as large.
constexpr std::size_t kBlockMax = 32u << 10;
// Up to this the C library has a list of freed blocks for every size.
constexpr std::size_t kCachedBlockMax = 1032;
constexpr std::size_t kBlockStep = 16;
// CPython's own allocator: pools of blocks of one size, which begin behind the pool's head, up to
// the largest that it serves.
constexpr std::size_t kPoolBytes = 16u << 10;
constexpr std::size_t kPoolHeadMax = 64;
constexpr std::size_t kPoolBlockMax = 512;
// Of one size: an interpreter that arranges its memory otherwise has no first block to be found.
constexpr std::size_t kGapBytesMax = 256u << 10;

// Where CPython puts its arenas before the first fork: the rest of the last of these huge pages.
std::vector<std::uintptr_t> g_arena_pages;
std::uintptr_t g_arena_next = 0;
bool g_preparing = false;  // arenas are put there
std::size_t g_arenas_made = 0;
std::uintptr_t g_heap_begin = 0;  // of the C library's heap, on a huge page

void* Map(std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// A huge page's worth of addresses that begins on one; 0 if there is none. Below the last one if it
// can be: a fork copies one mapping then, not two.
std::uintptr_t MapHugePage() {
  if (!g_arena_pages.empty()) {
    const std::uintptr_t below = g_arena_pages.back() - kHugePage;
    void* wanted = At(below);
    void* got = ::mmap(wanted, kHugePage, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) return below;
    if (got != MAP_FAILED) ::munmap(got, kHugePage);  // a kernel that takes it for a hint
  }
  void* memory = Map(2 * kHugePage);
  if (memory == nullptr) return 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t page = HugePageUp(begin);
  const std::uintptr_t rest = page + kHugePage;
  if (page > begin) ::munmap(memory, page - begin);
  ::munmap(At(rest), begin + 2 * kHugePage - rest);
  return page;
}

void* AllocateArena(void* /*context*/, std::size_t size) {
  ++g_arenas_made;
  if (!g_preparing || size > kHugePage) return Map(size);
  if (g_arena_pages.empty() || g_arena_next + size > g_arena_pages.back() + kHugePage) {
    const std::uintptr_t page = MapHugePage();
    if (page == 0) return nullptr;
    g_arena_pages.push_back(page);
    g_arena_next = page;
  }
  void* arena = At(g_arena_next);
  g_arena_next += size;
  return arena;
}

void FreeArena(void* /*context*/, void* arena, std::size_t size) { ::munmap(arena, size); }

std::uintptr_t HeapEnd() { return reinterpret_cast<std::uintptr_t>(::sbrk(0)); }

void GrowHeapTo(std::uintptr_t end) { ::sbrk(static_cast<std::intptr_t>(end - HeapEnd())); }

// Gaps, each holding the address of the one taken before it: nobody gives them back.
void* g_gaps = nullptr;

void Keep(void* gap) {
  *static_cast<void**>(gap) = g_gaps;
  g_gaps = gap;
}

std::uintptr_t KeepPooled(std::size_t size) {
  void* block = PyObject_Malloc(size);
  if (block != nullptr) Keep(block);
  return reinterpret_cast<std::uintptr_t>(block);
}

// Until a block of this size is the second of a pool that had none, after the first; then all of
// that pool. The next one begins another.
void UseUpPoolsOf(std::size_t size) {
  std::uintptr_t head = 0;
  for (std::size_t kept = 0; kept < kGapBytesMax; kept += size) {
    const std::uintptr_t block = KeepPooled(size);
    if (block == 0) return;
    if (block == head + size) break;
    head = block % kPoolBytes <= kPoolHeadMax ? block : 0;
  }
  const std::uintptr_t pool_end = head - head % kPoolBytes + kPoolBytes;
  for (std::uintptr_t next = head + 2 * size; head != 0 && next + size <= pool_end; next += size) {
    KeepPooled(size);
  }
}

void UseUpPools() {
  for (std::size_t size = kBlockStep; size <= kPoolBlockMax; size += kBlockStep) UseUpPoolsOf(size);
}

// And then whatever is left for pools, so that those of a box begin in memory that nobody has
// touched: that is cleared for it, where anything else would be copied. No huge page, therefore.
void UseUpArena() {
  g_preparing = false;
  const std::size_t arenas = g_arenas_made;
  for (std::size_t kept = 0; kept < kHugePage && g_arenas_made == arenas; kept += kPoolBlockMax) {
    if (KeepPooled(kPoolBlockMax) == 0) return;
  }
}

// Until blocks of every size come from the C library's untouched memory, behind all others.
void UseUpBlocks() {
  const std::uintptr_t untouched = HeapEnd() - ::mallinfo2().keepcost;
  for (std::size_t size = kBlockMax; size > kBlockStep;
       size -= size > kCachedBlockMax ? size / 4 : kBlockStep) {
    void* block = nullptr;
    do {
      block = std::malloc(size);
      if (block == nullptr) return;
      Keep(block);
    } while (reinterpret_cast<std::uintptr_t>(block) < untouched);
  }
}

// And then what is left of the last huge page, which is one only if all of it is mapped.
void UseUpHugePage() {
  const std::uintptr_t end = HugePageUp(HeapEnd());
  for (std::size_t kept = 0; kept < kHugePage && HeapEnd() < end; kept += kBlockMax) {
    void* block = std::malloc(kBlockMax);
    if (block == nullptr) return;
    Keep(block);
  }
}

void Collapse(std::uintptr_t begin, std::uintptr_t end) {
  if (begin < end) ::madvise(At(begin), end - begin, kCollapse);
}

}  // namespace

void PrepareHeap() {
  PyObjectArenaAllocator arenas = {nullptr, &AllocateArena, &FreeArena};
  PyObject_SetArenaAllocator(&arenas);
  g_preparing = true;
  g_heap_begin = HugePageUp(HeapEnd());
  GrowHeapTo(g_heap_begin);
}

void SettleHeap() {
  PyGC_Collect();  // what CPython keeps for the next object of a type goes back to its pool
  UseUpPools();
  UseUpArena();
  UseUpBlocks();
  UseUpHugePage();
  Collapse(g_heap_begin, HugePageDown(HeapEnd()));
  for (const std::uintptr_t page : g_arena_pages) Collapse(page, page + kHugePage);
}

}  // namespace glovebox::zygote
