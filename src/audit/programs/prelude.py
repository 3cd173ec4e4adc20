# Stands in front of every payload. The harness binds `nonce` and the targets as globals.
import ctypes, errno, os, struct, sys, time

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

_NUMBERS = {  # name: (x86-64, aarch64)
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280),
    "chroot": (161, 51), "clone": (56, 220), "clone3": (435, 435), "copy_file_range": (326, 285),
    "execveat": (322, 281), "fanotify_init": (300, 262), "fsopen": (430, 430),
    "getdents64": (217, 61), "io_uring_setup": (425, 425),
    "ioctl": (16, 29), "kcmp": (312, 272),
    "keyctl": (250, 219), "memfd_create": (319, 279),
    "modify_ldt": (154, -1), "mount": (165, 40), "mq_open": (240, 180),
    "mq_timedsend": (242, 182), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265),
    "open_tree": (428, 428), "openat2": (437, 437), "perf_event_open": (298, 241),
    "personality": (135, 92), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pivot_root": (155, 41), "prctl": (157, 167),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138), "seccomp": (317, 277), "setdomainname": (171, 162),
    "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170),
    "swapon": (167, 224), "syslog": (103, 116), "tgkill": (234, 131), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282), "capset": (126, 91),
}
_ARCH = 1 if os.uname().machine == "aarch64" else 0

# A program that prints the nonce; no refusal that quotes the command does.
printf = ["/usr/bin/printf", "%s%s", nonce[:9], nonce[9:]] if "nonce" in globals() else []


def call(name, *arguments):
    """One raw system call by name or number: its value, or minus errno."""
    number = _NUMBERS[name][_ARCH] if isinstance(name, str) else name
    words = [a if a is None or isinstance(a, (bytes, ctypes.Array)) or hasattr(a, "_obj")
             else ctypes.c_long(a) for a in arguments]
    ctypes.set_errno(0)
    value = _libc.syscall(ctypes.c_long(number), *words)
    return -ctypes.get_errno() if value == -1 else value


def achieved():
    """The forbidden effect happened."""
    sys.stdout.flush()
    os.write(1, (nonce + "\n").encode())


def mark():
    """Names this process, and what it forks, so that the harness can find and end them."""
    call("prctl", 15, cookie.encode(), 0, 0, 0)


def succeeded(value):
    """For calls that do no harm when they succeed: only that says something, because filters
    refuse them in many ways."""
    if value >= 0:
        achieved()
    print("answer:", value if value >= 0 else errno.errorcode.get(-value, value))


def reached(value):
    """For calls that cannot succeed as they are made here: did the kernel's own code answer?"""
    if value < 0 and -value not in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        achieved()
    succeeded(value)


def tiny_elf(text):
    """A static program that writes `text` to descriptor 1 and ends."""
    text = text.encode()
    if _ARCH == 0:
        code = (b"\xb8\x01\0\0\0\xbf\x01\0\0\0\xbe" + struct.pack("<I", 0x4000b0) + b"\xba"
                + struct.pack("<I", len(text)) + b"\x0f\x05\xb8\x3c\0\0\0\x31\xff\x0f\x05")
        machine = 62
    else:
        words = [0xd2800020, 0x58000101, 0xd2800002 | len(text) << 5, 0xd2800808, 0xd4000001,
                 0xd2800000, 0xd2800ba8, 0xd4000001, 0, 0]
        words[8] = 0x4000b0
        code = struct.pack("<10I", *words)
        machine = 183
    body = text.ljust(64, b"\0") + code
    header = (b"\x7fELF\x02\x01\x01" + bytes(9)
              + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0x4000b0 + 64, 64, 0, 0, 64, 56, 1, 0,
                            0, 0))
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, 0xb0 + len(body),
                          0xb0 + len(body), 0x1000)
    return (header + segment).ljust(0xb0, b"\0") + body


def run_file(path, content):
    """Makes a program at `path` and runs it."""
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o755)
    try:
        child = os.fork()
        if child == 0:
            try:
                os.execv(path, [path])
            finally:
                os._exit(1)
        os.waitpid(child, 0)
    finally:
        os.unlink(path)
