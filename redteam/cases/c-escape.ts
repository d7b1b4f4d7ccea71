import { pythonAttack, shellAttack } from "../suite/programs.ts";

/** Numbers are those of x86_64; on other machines these programs try what they can by name. */
export const attacks = [
  pythonAttack({
    id: "C1",
    title: "new namespaces: unshare, setns, clone and clone3 with namespace flags",
    expected: "each is refused",
    quick: true,
    program: `
for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("net", 0x40000000), ("pid", 0x20000000), ("uts", 0x4000000), ("ipc", 0x8000000), ("cgroup", 0x2000000), ("time", 0x80)):
    attempt("unshare-" + name, lambda: call(272, flag))
for name in ("net", "mnt", "pid", "user"):
    attempt("setns-" + name, lambda: call(308, os.open("/proc/self/ns/" + name, os.O_RDONLY), 0))
arguments = (ctypes.c_uint64 * 11)(0x10000000, 0, 0, 0, 17)
attempt("clone3-user", lambda: call(435, ctypes.byref(arguments), 88))`,
  }),
  pythonAttack({
    id: "C2",
    title: "mount, fsopen, move_mount, open_tree, pivot_root, chroot, open_by_handle_at",
    expected: "each is refused",
    quick: true,
    program: `
p = ctypes.c_char_p
attempt("mount", lambda: call(165, p(b"none"), p(b"/tmp"), p(b"tmpfs"), 0, None))
attempt("bind", lambda: call(165, p(b"/"), p(b"/tmp"), None, 4096, None))
attempt("remount", lambda: call(165, None, p(b"/"), None, 32, None))
attempt("umount", lambda: call(166, p(b"/workspace/global"), 2))
attempt("fsopen", lambda: call(430, p(b"tmpfs"), 0))
attempt("move_mount", lambda: call(429, -100, p(b"/tmp"), -100, p(b"/home"), 0))
attempt("open_tree", lambda: call(428, -100, p(b"/"), 1))
attempt("mount_setattr", lambda: call(442, -100, p(b"/"), 0, p(bytes(32)), 32))
attempt("pivot_root", lambda: call(155, p(b"/"), p(b"/")))
attempt("chroot", lambda: os.chroot("/tmp"))
attempt("open_by_handle_at", lambda: call(304, -100, p(bytes([8,0,0,0,1,0,0,0,2,0,0,0,0,0,0,0])), 0))`,
  }),
  pythonAttack({
    id: "C3",
    title: "device nodes: mknod, and writing to what is in /dev",
    expected: "mknod is refused; only the usual nodes are there",
    program: `
for name, major, minor in (("mem", 1, 1), ("kmsg", 1, 11), ("sda", 8, 0), ("fuse", 10, 229), ("null", 1, 3)):
    attempt("mknod-" + name, lambda: os.mknod("/tmp/" + name, stat.S_IFCHR | 0o666, os.makedev(major, minor)))
usual = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "shm", "mqueue", "fd", "stdin", "stdout", "stderr", "core"}
for name in os.listdir("/dev"):
    if name not in usual: print("OPEN /dev/" + name)
attempt("loop-control", lambda: os.open("/dev/loop-control", os.O_RDWR))
attempt("kvm", lambda: os.open("/dev/kvm", os.O_RDWR))`,
  }),
  pythonAttack({
    id: "C5",
    title: "sockets that ignore network namespaces or have a history: VSOCK, ALG, PACKET, RAW, XDP, TIPC, CAN, netlink",
    expected: "each is refused",
    quick: true,
    program: `
for name, family, kind, protocol in (("vsock", 40, 1, 0), ("vsock-dgram", 40, 2, 0), ("alg", 38, 5, 0), ("packet", 17, 3, 3), ("packet-dgram", 17, 2, 3), ("raw", 2, 3, 1), ("raw6", 10, 3, 58),
    ("xdp", 44, 3, 0), ("tipc", 30, 5, 0), ("can", 29, 3, 1), ("bluetooth", 31, 3, 1), ("rds", 21, 5, 0), ("kcm", 41, 2, 0), ("smc", 43, 1, 0), ("nfc", 39, 3, 1), ("llc", 26, 2, 0),
    ("key", 15, 3, 2), ("ax25", 3, 2, 0), ("netlink-audit", 16, 3, 9), ("netlink-xfrm", 16, 3, 6), ("netlink-netfilter", 16, 3, 12), ("mptcp", 2, 1, 262), ("sctp", 2, 1, 132)):
    attempt(name, lambda: socket.socket(family, kind, protocol).close())
def pair():
    a = (ctypes.c_int * 2)()
    if libc.socketpair(40, 1, 0, a) < 0: raise OSError(ctypes.get_errno(), "socketpair")
attempt("socketpair-vsock", pair)`,
  }),
  pythonAttack({
    id: "C5b",
    title: "the same sockets through the 32-bit system calls (int 0x80, socketcall)",
    expected: "the filter covers the other architecture too",
    skip: () => (process.arch === "x64" ? undefined : "only x86_64 has these system calls"),
    program: `
import mmap
# mov eax, 359 (socket); mov ebx, 40; mov ecx, 1; xor edx, edx; int 0x80; movsxd rax, eax; ret, with rbx kept
code = bytes.fromhex("53" "b867010000" "bb28000000" "b901000000" "31d2" "cd80" "4863c0" "5b" "c3")
pid = os.fork()
if pid == 0:
    page = mmap.mmap(-1, 4096, prot=7); page.write(code)
    result = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    os._exit(200 if result >= 0 else 1)
status = os.waitpid(pid, 0)[1]
print("OPEN vsock-32" if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 200 else "refused vsock-32 %d" % status)`,
  }),
  pythonAttack({
    id: "C6",
    title: "kernel files that run programs on the host: core_pattern, sysrq, release_agent, uevent_helper, binfmt",
    expected: "none can be opened for writing",
    quick: true,
    program: `
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/devices/devices.allow",
    "/sys/kernel/uevent_helper", "/proc/sys/fs/binfmt_misc/register", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/ns_last_pid", "/proc/kcore", "/proc/acpi/wakeup"):
    attempt(path, lambda: os.open(path, os.O_WRONLY))`,
  }),
  pythonAttack({
    id: "C7",
    title:
      "calls with a long list of kernel holes: bpf, io_uring, userfaultfd, keyctl, perf, ptrace, System V IPC, kexec, modules",
    expected: "each is refused",
    quick: true,
    program: `
for name, number, arguments in (("bpf", 321, (0, None, 0)), ("io_uring_setup", 425, (8, None)), ("io_uring_enter", 426, (-1, 0, 0, 0, None, 0)), ("userfaultfd", 323, (0,)), ("keyctl", 250, (0, -3, 0)),
    ("add_key", 248, (None, None, None, 0, 0)), ("request_key", 249, (None, None, None, 0)), ("perf_event_open", 298, (None, 0, -1, -1, 0)), ("ptrace", 101, (0, 0, 0, 0)), ("process_vm_readv", 310, (1, None, 0, None, 0, 0)),
    ("shmget", 29, (0, 4096, 0o1600)), ("msgget", 68, (0, 0o1600)), ("semget", 64, (0, 1, 0o1600)), ("kexec_load", 246, (0, 0, None, 0)), ("init_module", 175, (None, 0, None)), ("delete_module", 176, (None, 0)),
    ("iopl", 172, (3,)), ("ioperm", 173, (0, 1, 1)), ("reboot", 169, (0, 0, 0, None)), ("settimeofday", 164, (None, None)), ("quotactl", 179, (0, None, 0, None)), ("acct", 163, (None,)), ("syslog", 103, (3, None, 0)),
    ("pidfd_getfd", 438, (-1, 0, 0)), ("kcmp", 312, (1, 1, 0, 0, 0)), ("lookup_dcookie", 212, (0, None, 0)), ("vmsplice-nothing", 9999, ())):
    attempt(name, lambda: call(number, *arguments))`,
  }),
  shellAttack({
    id: "C10",
    title: "setuid and setgid programs, in the image and made by the agent",
    expected: "there is none; one that the agent makes gains nothing",
    program: `
find / -xdev \\( -perm -4000 -o -perm -2000 \\) -type f 2>/dev/null | sed 's/^/OPEN setuid /'
getcap -r /usr 2>/dev/null | sed 's/^/OPEN capability /'
cp /bin/bash /workspace/group/suid && chmod 4755 /workspace/group/suid
/workspace/group/suid -p -c 'id -u' | grep -qx 0 && echo OPEN root
rm -f /workspace/group/suid; echo done`,
  }),
  shellAttack({
    id: "C11",
    title: "sockets of container engines and other ways to the host's programs",
    expected: "there is none",
    quick: true,
    program: `
find / -xdev -type s 2>/dev/null | sed 's/^/OPEN socket /'
for place in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /run/podman/podman.sock /run/crio/crio.sock /host /hostfs /rootfs; do [ -e $place ] && echo OPEN $place; done
for port in 2375 2376 8080 10250; do (echo > /dev/tcp/127.0.0.1/$port) 2>/dev/null && echo OPEN tcp $port; done
for place in /proc/1/root /proc/1/cwd; do ls $place/workspace >/dev/null 2>&1; done
echo done`,
  }),
  shellAttack({
    id: "C12",
    title: "lasting changes: programs, libraries and the agent's own code in the image",
    expected: "the root is read-only",
    quick: true,
    program: `
for place in /usr/bin/x /etc/passwd /etc/ld.so.preload /opt/crabpot/agent.cjs /opt/crabpot/agent.cache /opt/crabpot/x /lib/x /root/x /var/lib/x /workspace/x /mail/x /; do
  (: > $place) 2>/dev/null && echo OPEN $place; done
mv /opt/crabpot/agent.cjs /opt/crabpot/old 2>/dev/null && echo OPEN move
echo done`,
  }),
  pythonAttack({
    id: "C13",
    title: "ways to escape through the first process: its memory, its descriptors, signals beyond the container",
    expected: "only processes of this container are seen, and no descriptor leads outside",
    program: `
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        for number in os.listdir("/proc/%s/fd" % pid):
            target = os.readlink("/proc/%s/fd/%s" % (pid, number))
            if target.startswith("/") and not target.startswith(("/dev/", "/proc", "/tmp", "/home/agent", "/mail", "/workspace", "/opt/crabpot", "/usr", "/memfd")): print("OPEN descriptor", pid, target)
    except OSError: pass
attempt("pid-of-host", lambda: os.kill(400000, 0))
attempt("host-root", lambda: os.listdir("/proc/1/root/home/../../../var/lib/docker"))
attempt("cgroup-write", lambda: os.mkdir("/sys/fs/cgroup/escape"))`,
  }),
];
