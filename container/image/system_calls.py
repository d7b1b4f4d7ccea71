"""System calls by name, made past the C library: on x86_64 and aarch64."""

import ctypes
import errno
import os

# Numbers of system calls: x86_64, aarch64. None: the machine has no such call.
CALLS = {
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mount": (165, 40),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone": (56, 220),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "mknodat": (259, 33),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "swapon": (167, 224),
    "sethostname": (170, 161),
    "modify_ldt": (154, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "creat": (85, None),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "mknod": (133, None),
}

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
machine = {"x86_64": 0, "aarch64": 1}.get(os.uname().machine)


def call(name, *arguments):
    number = CALLS[name][machine]
    if number is None:
        raise OSError(errno.ENOSYS, "no such call on this machine")
    ctypes.set_errno(0)
    padded = [ctypes.c_long(part) if isinstance(part, int) else part for part in arguments]
    result = libc.syscall(ctypes.c_long(number), *padded)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result
