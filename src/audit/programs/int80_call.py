# getpid by the 32-bit entry, as machine code: mov eax,20; int 0x80; ret.
import mmap
code = b"\x53\xb8\x14\0\0\0\xcd\x80\x5b\xc3"
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
page[:len(code)] = code
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
if _libc.mprotect(ctypes.c_void_p(address), 4096, 5) != 0:
    print("mprotect:", errno.errorcode[ctypes.get_errno()])
elif ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0:
    achieved()
