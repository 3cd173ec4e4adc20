#include "python/zygote/heap_pages.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

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
