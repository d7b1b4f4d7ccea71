"""Looks at the container from the inside and prints one JSON object.

It reports what holds (user, capabilities, filters, interfaces, mounts, names of the environment) and tries what must
fail. An attempt counts as refused only when the kernel or its filter said no to it; a call that got far enough to have its
arguments judged is open. Nothing is changed: arguments are such that even an allowed call has no lasting effect.

The first message of a group waits for it, so it does without the modules `json` and `socket`: loading those takes as long as
all the rest.
"""

import _socket as socket
import ctypes
import errno
import os
import stat
import sys
from _json import encode_basestring_ascii as encode_text

# An isolated Python does not look beside its program by itself.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from system_calls import call, libc, machine

REFUSED = {errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOSYS}
REFUSED |= {errno.EAFNOSUPPORT, errno.ESOCKTNOSUPPORT, errno.EPROTONOSUPPORT, errno.ENETUNREACH}
# For files and sockets of the host: that they are not there is as good.
ABSENT = REFUSED | {errno.ENOENT, errno.ENOTDIR, errno.ECONNREFUSED}

SET_IDS = stat.S_ISUID | stat.S_ISGID
TMPFILE = 0o20000000
NEW_NETWORK, NEW_USER, NEW_MOUNT, SIGNAL_CHILD = 0x40000000, 0x10000000, 0x00020000, 17

attempts = []


def attempt(name, action, refused=REFUSED):
    try:
        action()
        detail, is_open = "worked", True
    except OSError as error:
        detail = errno.errorcode.get(error.errno, str(error.errno))
        is_open = error.errno not in refused
    attempts.append({"name": name, "outcome": "open" if is_open else "refused", "detail": detail})


def try_call(name, *arguments):
    attempt(name, lambda: call(name, *arguments))


def try_socket(label, family, kind, protocol=0):
    def open_and_close():
        handle = libc.socket(family, kind, protocol)
        if handle < 0:
            raise OSError(ctypes.get_errno(), label)
        os.close(handle)

    attempt(label, open_and_close)


def try_in_child(label, action):
    """For calls that would change this process: a child makes it, tells its errno and ends."""

    def run():
        child = os.fork()
        if child == 0:
            code = 0
            try:
                action()
            except OSError as error:
                code = error.errno or 255
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 0:
            raise OSError(code, label)

    attempt(label, run)


def clone_user():
    child = call("clone", NEW_USER | SIGNAL_CHILD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def join_own_network():
    handle = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        call("setns", handle, NEW_NETWORK)
    finally:
        os.close(handle)


def make_device():
    """The device of /dev/null, in a folder that is writable; taken away again should it appear."""
    path = f"/tmp/probe-{os.getpid()}".encode()
    call("mknodat", -100, ctypes.c_char_p(path), stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(path)


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))


def connect(family, kind, address):
    opened = socket.socket(family, kind)
    try:
        opened.setblocking(False)
        opened.connect(address)
    finally:
        opened.close()


def try_sockets():
    try_socket("socket-vsock", 40, socket.SOCK_STREAM)
    try_socket("socket-alg", 38, socket.SOCK_SEQPACKET)
    try_socket("socket-packet", 17, socket.SOCK_RAW)
    try_socket("socket-bluetooth", 31, socket.SOCK_RAW, 1)
    try_socket("socket-can", 29, socket.SOCK_RAW, 1)
    try_socket("socket-tipc", 30, socket.SOCK_SEQPACKET)
    try_socket("socket-xdp", 44, socket.SOCK_RAW)
    try_socket("socket-rds", 21, socket.SOCK_SEQPACKET)
    try_socket("socket-raw-inet", 2, socket.SOCK_RAW, 1)
    try_socket("socket-raw-inet6", 10, socket.SOCK_RAW, 58)
    try_socket("socket-sctp", 2, socket.SOCK_STREAM, 132)
    try_socket("socket-netlink-audit", 16, socket.SOCK_RAW, 9)
    try_socket("socket-netlink-netfilter", 16, socket.SOCK_RAW, 12)
    attempt("connect-metadata", lambda: connect(2, socket.SOCK_STREAM, ("169.254.169.254", 80)))
    attempt("connect-dns", lambda: connect(2, socket.SOCK_DGRAM, ("1.1.1.1", 53)))


def try_calls():
    nothing = ctypes.c_void_p(0)
    nowhere = ctypes.c_char_p(b"/nonexistent-probe")
    try_call("io_uring_setup", 1, nothing)
    try_call("bpf", 0, nothing, 0)
    try_call("userfaultfd", 0x7FFFFFFF)
    try_call("ptrace", 3, -1, nothing, nothing)
    try_call("process_vm_readv", -1, nothing, 0, nothing, 0, 0)
    try_call("keyctl", 0, -3, 0)
    try_call("add_key", nothing, nothing, nothing, 0, 0)
    try_call("shmget", -1, 0, 0)
    try_call("msgget", -1, 0)
    try_call("mq_open", nothing, 0, 0, nothing)
    try_call("mount", nowhere, ctypes.c_char_p(b"/"), nowhere, 0, nothing)
    try_call("fsopen", nowhere, 0)
    try_call("open_tree", -100, ctypes.c_char_p(b"/"), 1)
    try_call("pivot_root", ctypes.c_char_p(b"/"), ctypes.c_char_p(b"/"))
    try_in_child("chroot", lambda: call("chroot", ctypes.c_char_p(b"/")))
    try_in_child("unshare-network", lambda: call("unshare", NEW_NETWORK))
    try_in_child("unshare-mount", lambda: call("unshare", NEW_MOUNT))
    try_in_child("unshare-user", lambda: call("unshare", NEW_USER))
    try_in_child("setns-network", join_own_network)
    attempt("clone-user", clone_user)
    try_call("open_by_handle_at", -1, nothing, 0)
    try_call("perf_event_open", nothing, -1, 0, -1, 0)
    attempt("mknod-device", make_device)
    try_call("kexec_load", 0, 1 << 20, nothing, 0)
    try_call("init_module", nothing, 0, nothing)
    try_call("finit_module", -1, nothing, 0)
    try_call("swapon", nowhere, 0)
    try_call("sethostname", nothing, -1)
    try_call("modify_ldt", 99, nothing, 0)


def try_set_id_bits():
    """Each way to give a file the setuid or setgid bit. Nothing is there: a call that passes the filter says so."""
    here, nowhere = -100, ctypes.c_char_p(b"/nonexistent-probe/file")
    for label, bits in (("setuid", stat.S_ISUID), ("setgid", stat.S_ISGID)):
        mode = bits | 0o755
        attempt(f"chmod-{label}", lambda mode=mode: call("chmod", nowhere, mode))
        attempt(f"fchmod-{label}", lambda mode=mode: call("fchmod", -1, mode))
        attempt(f"fchmodat-{label}", lambda mode=mode: call("fchmodat", here, nowhere, mode))
    mode = SET_IDS | 0o755
    attempt("fchmodat2-setuid", lambda: call("fchmodat2", here, nowhere, mode, 0))
    attempt("creat-setuid", lambda: call("creat", nowhere, mode))
    attempt("open-setuid", lambda: call("open", nowhere, os.O_CREAT | os.O_WRONLY, mode))
    attempt("openat-setuid", lambda: call("openat", here, nowhere, os.O_CREAT | os.O_WRONLY, mode))
    attempt("openat-tmpfile-setuid", lambda: call("openat", here, nowhere, TMPFILE | os.O_WRONLY, mode))
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, mode, 0)
    attempt("openat2-setuid", lambda: call("openat2", here, nowhere, ctypes.byref(how), 24))
    attempt("mknod-setuid", lambda: call("mknod", nowhere, stat.S_IFREG | mode, 0))
    attempt("mknodat-setuid", lambda: call("mknodat", here, nowhere, stat.S_IFREG | mode, 0))


def try_files():
    for label, path in (
        ("write-sysrq", "/proc/sysrq-trigger"),
        ("write-core-pattern", "/proc/sys/kernel/core_pattern"),
        ("write-uevent-helper", "/sys/kernel/uevent_helper"),
        ("write-release-agent", "/sys/fs/cgroup/release_agent"),
        ("read-kernel-memory", "/dev/mem"),
    ):
        attempt(label, lambda path=path: open_for_writing(path), ABSENT)
    attempt("open-terminal", lambda: os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)), ABSENT)
    for label, path in (
        ("connect-docker", "/var/run/docker.sock"),
        ("connect-containerd", "/run/containerd/containerd.sock"),
        ("connect-podman", "/run/podman/podman.sock"),
    ):
        attempt(label, lambda path=path: connect(socket.AF_UNIX, socket.SOCK_STREAM, path), ABSENT)


def root_is_read_only():
    path = f"/probe-{os.getpid()}"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        return error.errno == errno.EROFS
    os.unlink(path)
    return False


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def mounts():
    found = []
    for line in read("/proc/self/mountinfo").splitlines():
        front, back = line.split(" - ", 1)
        target, options = front.split(" ")[4:6]
        kind, _, inner = back.split(" ", 2)
        for code, plain in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            target = target.replace(code, plain)
        # Only of a tmpfs do the file system's own options matter (size, inodes); of an overlay they are very long.
        everything = f"{options},{inner}" if kind == "tmpfs" else options
        found.append(
            {"target": target, "readOnly": "ro" in options.split(","), "type": kind, "options": everything[:1024]}
        )
    return found


def environment():
    """Names that the agent and the first process were started with; the latter may be unreadable."""
    names = set()
    for path in ("/proc/self/environ", "/proc/1/environ"):
        try:
            names.update(entry.split("=", 1)[0] for entry in read(path).split("\0") if entry)
        except OSError:
            continue
    return sorted(name[:256] for name in names)


def encode(value):
    """As `json.dumps` without blanks, for what the report is made of."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode_text(key)}:{encode(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(encode, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return encode_text(value) if isinstance(value, str) else str(value)


def main():
    if machine is None:
        sys.exit(f"The probe does not know the system calls of {os.uname().machine}.")
    status = dict(line.split(":", 1) for line in read("/proc/self/status").splitlines() if ":" in line)
    interfaces = [line.split(":")[0].strip() for line in read("/proc/net/dev").splitlines() if ":" in line]
    try_sockets()
    try_calls()
    try_set_id_bits()
    try_files()
    report = {
        "uid": os.getuid(),
        "gid": os.getgid(),
        "groups": os.getgroups(),
        "capabilities": {name: status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
        "noNewPrivs": int(status["NoNewPrivs"]),
        "seccomp": int(status["Seccomp"]),
        "interfaces": interfaces,
        "rootReadOnly": root_is_read_only(),
        "mounts": mounts(),
        "environment": environment(),
        "attempts": attempts,
    }
    print(encode(report))


main()
