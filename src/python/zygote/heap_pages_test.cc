#include "python/zygote/heap_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "python/zygote/huge_page.h"
#include "python/zygote/interpreter.h"

namespace glovebox::zygote {
namespace {

void StartPython() {
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.site_import = 0;
  PyConfig_SetString(&config, &config.home, L"/usr");
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0) ::_exit(101);
}

// How many sizes of objects would make a fork copy a second page of a pool for the first of them.
int CountSpreadSizes() {
  StartPython();
  // Pools with gaps at their ends, where the next objects would go.
  if (PyRun_SimpleString("kept = [bytes(i) for i in range(480)]\n"
                         "more = [bytes(i % 480) for i in range(48000)]\n"
                         "del more[9::10]\n") != 0) {
    ::_exit(102);
  }
  SettleHeap();
  int spread = 0;
  for (std::size_t size = 16; size <= 512; size += 16) {
    const auto block = reinterpret_cast<std::uintptr_t>(PyObject_Malloc(size));
    if (block % (16u << 10) >= 4096) ++spread;
  }
  return spread;
}

// In processes of their own: an interpreter cannot be started twice.
TEST(HeapPagesTest, TheNextObjectOfEverySizeLiesBesideItsPoolsHead) {
  EXPECT_EXIT(
      {
        PrepareHeap();
        ::_exit(CountSpreadSizes());
      },
      ::testing::ExitedWithCode(0), "");
}

#ifndef __SANITIZE_ADDRESS__  // which has a heap of its own
// Of what the C library's heap holds, in kB: all that is mapped, and what lies in huge pages.
struct HeapShares {
  int mapped = 0;
  int huge = 0;
};

HeapShares ReadHeapShares() {
  std::ifstream maps("/proc/self/smaps");
  HeapShares shares;
  bool heap = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) heap = line.find("[heap]") != std::string::npos;
    if (!heap) continue;
    std::istringstream words(line);
    std::string name;
    int kilobytes = 0;
    words >> name >> kilobytes;
    if (name == "Rss:") shares.mapped = kilobytes;
    if (name == "AnonHugePages:") shares.huge = kilobytes;
  }
  return shares;
}

bool KernelCollapses() {
  constexpr std::size_t kSize = 2 * kHugePage;
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  const std::uintptr_t page = HugePageUp(reinterpret_cast<std::uintptr_t>(memory));
  std::memset(At(page), 1, kHugePage);
  const bool collapses = ::madvise(At(page), kHugePage, 25 /* MADV_COLLAPSE */) == 0;
  ::munmap(memory, kSize);
  return collapses;
}

TEST(HeapPagesTest, AHeapOfLessThanAHugePageLiesInOne) {
  if (!KernelCollapses()) GTEST_SKIP() << "this kernel has no MADV_COLLAPSE, or no huge page free";
  EXPECT_EXIT(
      {
        PrepareHeap();
        StartPython();
        SettleHeap();
        const HeapShares shares = ReadHeapShares();
        std::fprintf(stderr, "%d kB, %d in huge pages\n", shares.mapped, shares.huge);
        ::_exit(shares.huge >= 2048 && shares.mapped - shares.huge < 512 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}
#endif

TEST(HeapPagesTest, MemoryComesAsUsualAfterwards) {
  EXPECT_EXIT(
      {
        PrepareHeap();
        CountSpreadSizes();
        ::_exit(PyRun_SimpleString("assert sum(map(len, [bytes(i % 900) for i in range(99999)]))"));
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace glovebox::zygote
