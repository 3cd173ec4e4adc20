#pragma once

namespace glovebox::sandbox {

// A system call without a C library: the kernel's answer as it is, -errno for a failure.
inline long KernelCall(long number, long first = 0, long second = 0, long third = 0,
                       long fourth = 0, long fifth = 0) noexcept {
#if defined(__x86_64__)
  register long r10 asm("r10") = fourth;
  register long r8 asm("r8") = fifth;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = first;
  register long x1 asm("x1") = second;
  register long x2 asm("x2") = third;
  register long x3 asm("x3") = fourth;
  register long x4 asm("x4") = fifth;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
#else
#error "glovebox knows how to make boxes on x86-64 and aarch64"
#endif
}

// For arguments that are addresses.
template <typename Pointed>
long Address(Pointed* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

}  // namespace glovebox::sandbox
