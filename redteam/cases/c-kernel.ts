import { pythonAttack } from "../suite/programs.ts";

/** Numbers of system calls are those of x86_64. */
export const attacks = [
  pythonAttack({
    id: "C16",
    title: "typing into another terminal: TIOCSTI, TIOCLINUX, TIOCCONS, a controlling terminal, other pseudo-terminals",
    expected: "no terminal takes it",
    quick: true,
    program: `
import fcntl
def into(path, request, argument):
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try: return fcntl.ioctl(descriptor, request, argument)
    finally: os.close(descriptor)
for path in ["/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1"] + ["/dev/pts/" + n for n in os.listdir("/dev/pts") if n.isdigit()]:
    for name, request, argument in (("TIOCSTI", 0x5412, b"x"), ("TIOCLINUX", 0x541c, bytes([3])), ("TIOCCONS", 0x541d, 0), ("TIOCSCTTY", 0x540e, 1)):
        attempt(name + " " + path, lambda: into(path, request, argument))
for number in (0, 1, 2): attempt("TIOCSTI of %d" % number, lambda: fcntl.ioctl(number, 0x5412, b"x"))`,
  }),
  pythonAttack({
    id: "C17",
    title:
      "the container's own limits: cgroup files, rlimits, priority, real time, the out-of-memory score, locked memory",
    expected: "none can be loosened",
    quick: true,
    program: `
import glob, resource
for path in glob.glob("/sys/fs/cgroup/*") + glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True):
    if os.path.isfile(path): attempt(path, lambda: os.open(path, os.O_WRONLY))
for path in ("/proc/self/oom_score_adj", "/proc/1/oom_score_adj"): attempt("oom " + path, lambda: write(path, "-1000"))
for name in ("NPROC", "NOFILE", "FSIZE", "CORE", "MEMLOCK", "RTPRIO", "NICE"):
    kind = getattr(resource, "RLIMIT_" + name, 13)
    hard = resource.getrlimit(kind)[1]
    def raised():
        try: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except ValueError as error: raise OSError(errno.EPERM, str(error))
    if hard != resource.RLIM_INFINITY: attempt("rlimit " + name, raised)
attempt("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))
attempt("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)))
attempt("deadline", lambda: call(314, 0, ctypes.byref((ctypes.c_uint64 * 6)(48 | (6 << 32), 0, 0, 10**6, 10**7, 10**7)), 0))
attempt("ioprio", lambda: call(251, 1, 0, 1 << 13))
attempt("mlock", lambda: call(151, 3) if resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] < 1 << 30 else (_ for _ in ()).throw(OSError(1, "x")))`,
  }),
  pythonAttack({
    id: "C18",
    title: "clocks, names and lasting settings of the kernel",
    expected: "each is refused",
    quick: true,
    program: `
moment = (ctypes.c_long * 2)(0, 0)
adjust = (ctypes.c_long * 26)(1)
for clock in (0, 1, 11): attempt("clock_settime %d" % clock, lambda: call(227, clock, ctypes.byref(moment)))
attempt("adjtimex", lambda: call(159, ctypes.byref(adjust)))
attempt("clock_adjtime", lambda: call(305, 0, ctypes.byref(adjust)))
attempt("timerfd-alarm", lambda: call(283, 8, 0))
attempt("timer_create-alarm", lambda: call(222, 8, None, ctypes.byref(ctypes.c_int())))
attempt("sethostname", lambda: socket.sethostname("evil"))
attempt("setdomainname", lambda: call(171, ctypes.c_char_p(b"evil"), 4))
for name in ("kernel/hostname", "kernel/domainname", "net/ipv4/ip_forward", "net/ipv4/ip_unprivileged_port_start", "net/core/somaxconn", "kernel/shm_rmid_forced", "fs/mqueue/msg_max", "user/max_user_namespaces", "kernel/yama/ptrace_scope"):
    attempt(name, lambda: os.open("/proc/sys/" + name, os.O_WRONLY))`,
  }),
  pythonAttack({
    id: "C19",
    title: "identity: becoming root, capabilities, a loosened filter, file capabilities, trusted attributes, ownership",
    expected: "nothing is gained",
    quick: true,
    program: `
p = ctypes.c_char_p
for name, action in (("setuid", lambda: os.setuid(0)), ("setgid", lambda: os.setgid(0)), ("setgroups", lambda: os.setgroups([0])), ("setresuid", lambda: os.setresuid(0, 0, 0)), ("setfsuid-unchanged", lambda: call(122, 0) and call(122, 0) == 0 or (_ for _ in ()).throw(OSError(1, "kept")))): attempt(name, action)
header = (ctypes.c_uint32 * 2)(0x20080522, 0); every = (ctypes.c_uint32 * 6)(*([0xffffffff] * 6))
attempt("capset", lambda: call(126, ctypes.byref(header), ctypes.byref(every)))
for name, arguments in (("ambient", (47, 2, 21, 0, 0)), ("no-new-privs-off", (38, 0, 0, 0, 0)), ("seccomp-off", (22, 0, 0, 0, 0)), ("securebits", (28, 0, 0, 0, 0)), ("set-mm", (35, 1, 4096, 0, 0)), ("ptracer-any-is-harmless", (9999, 0, 0, 0, 0))): attempt(name, lambda: call(157, *arguments))
place = "/workspace/group/attributes"; write(place)
for name, value in ((b"security.capability", b"\\1\\0\\0\\2" + b"\\xff" * 16), (b"trusted.x", b"x"), (b"system.posix_acl_access", b"x")):
    attempt(name.decode(), lambda: os.setxattr(place, name, value))
attempt("chown", lambda: os.chown(place, 0, 0)); attempt("chown-other", lambda: os.chown(place, 1000, 1000))
attempt("immutable", lambda: __import__("fcntl").ioctl(os.open(place, os.O_RDONLY), 0x40086602, struct.pack("l", 16)))
attempt("set-id", lambda: os.chmod(place, 0o6777)); os.unlink(place)`,
  }),
  pythonAttack({
    id: "C20",
    title: "system calls of recent kernels, and the same calls by the x32 numbers",
    expected: "what is not known to be needed is refused",
    quick: true,
    program: `
for name, number, arguments in (("fanotify_init", 300, (0, 0)), ("name_to_handle_at", 303, (-100, ctypes.c_char_p(b"/"), ctypes.create_string_buffer(136), ctypes.byref(ctypes.c_int()), 0)), ("fspick", 433, (-100, ctypes.c_char_p(b"/"), 0)),
    ("quotactl_fd", 443, (0, 0, 0, None)), ("memfd_secret", 447, (0,)), ("process_mrelease", 448, (-1, 0)), ("process_madvise", 440, (-1, None, 0, 0, 0)), ("statmount", 457, (None, None, 0, 0)), ("listmount", 458, (None, None, 0, 0)),
    ("lsm_set_self_attr", 460, (100, None, 0, 0)), ("open_tree_attr", 467, (-100, ctypes.c_char_p(b"/"), 1, None, 0)), ("swapon", 167, (ctypes.c_char_p(b"/tmp"), 0)), ("swapoff", 168, (ctypes.c_char_p(b"/tmp"),)), ("vhangup", 153, ()),
    ("move_pages", 279, (1, 1, None, None, None, 0)), ("migrate_pages", 256, (1, 1, None, None)), ("modify_ldt", 154, (1, ctypes.create_string_buffer(16), 16)), ("nfsservctl", 180, ()), ("uselib", 134, (ctypes.c_char_p(b"/x"),)), ("ustat", 136, (0, None)), ("sysfs", 139, (3,))):
    attempt(name, lambda: call(number, *arguments))
# A filter may kill who makes such a call.
for name, number, arguments in (("x32-socket", 41, (40, 1, 0)), ("x32-unshare", 272, (0x10000000,)), ("x32-getpid", 39, ()), ("x32-ptrace", 521, (0, 0, 0, 0))):
    pid = os.fork()
    if pid == 0:
        try: call(0x40000000 + number, *arguments); os._exit(0)
        except OSError: os._exit(1)
    status = os.waitpid(pid, 0)[1]
    print("OPEN" if status == 0 else "refused", name, status)`,
    skip: () => (process.arch === "x64" ? undefined : "the numbers are those of x86_64"),
  }),
  pythonAttack({
    id: "C21",
    title:
      "files by another way: links to what is mounted read-only, links to open descriptors, the parents of mounts, magic links",
    expected: "no file outside is reached and nothing read-only is written",
    quick: true,
    program: `
target = next(("/workspace/global/" + n for n in os.listdir("/workspace/global")), "/etc/passwd")
attempt("hard-link", lambda: os.link(target, "/workspace/group/hard"))
attempt("hard-link-image", lambda: os.link("/etc/passwd", "/tmp/hard"))
held = os.open(target, os.O_RDONLY)
attempt("link-descriptor", lambda: call(265, -100, ctypes.c_char_p(b"/proc/self/fd/%d" % held), -100, ctypes.c_char_p(b"/workspace/group/hard2"), 0x400))
attempt("reopen", lambda: os.open("/proc/self/fd/%d" % held, os.O_RDWR))
attempt("truncate", lambda: os.truncate(target, 0))
attempt("exchange", lambda: call(316, -100, ctypes.c_char_p(target.encode()), -100, ctypes.c_char_p(b"/workspace/group"), 2))
attempt("own-image", lambda: os.open("/proc/1/exe", os.O_WRONLY))
attempt("map_files", lambda: [os.open("/proc/1/map_files/" + n, os.O_RDWR) for n in os.listdir("/proc/1/map_files")])
root = os.open("/workspace/group", os.O_RDONLY | os.O_DIRECTORY)
def above():
    found = os.open("../../../../../../..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=root)
    if (os.fstat(found).st_dev, os.fstat(found).st_ino) == (os.stat("/").st_dev, os.stat("/").st_ino): raise OSError(errno.ENOENT, "only the container's root")
attempt("above", above)
os.mkdir("/workspace/group/moving"); inner = os.open("/workspace/group/moving", os.O_RDONLY)
os.rename("/workspace/group/moving", "/workspace/group/moved")
def moved():
    names = os.listdir(os.open("../..", os.O_RDONLY, dir_fd=inner))
    if "extra" in names or "group" in names: raise OSError(errno.ENOENT, "the workspace")
    return names
attempt("moved", moved); os.rmdir("/workspace/group/moved")`,
  }),
  pythonAttack({
    id: "C28",
    title: "pages of the image's files put into pipes: splice, tee, vmsplice, from a file, a pipe, memory and a socket",
    expected: "each is unknown to the kernel, and programs copy instead",
    quick: true,
    program: `
splice, tee, vmsplice = (275, 276, 278) if x86_64() else (76, 77, 75)
reading, writing = os.pipe(); other_reading, other_writing = os.pipe(); os.write(writing, b"x" * 16)
held = os.open("/etc/passwd", os.O_RDONLY); one, two = socket.socketpair()
iovec = (ctypes.c_size_t * 2)(ctypes.addressof(ctypes.create_string_buffer(4096)), 4096)
for name, number, arguments in (
    ("file-to-pipe", splice, (held, None, writing, None, 1, 0)),
    ("pipe-to-pipe", splice, (reading, None, other_writing, None, 1, 0)),
    ("pipe-to-socket", splice, (reading, None, one.fileno(), None, 1, 0)),
    ("tee", tee, (reading, other_writing, 1, 0)),
    ("memory-to-pipe", vmsplice, (writing, ctypes.byref(iovec), 1, 8)),
    ("nothing", splice, (-1, None, -1, None, 0, 0)),
):
    def unknown():
        try: return call(number, *arguments)
        except OSError as error:
            if error.errno == errno.ENOSYS: raise
            return error
    attempt(name, unknown)`,
  }),
  pythonAttack({
    id: "C29",
    title:
      "what tells one machine from another, or what it is doing: its boot, open files, interrupts, devices, ciphers",
    expected: "each reads as empty",
    quick: true,
    program: `
def said(path):
    if os.path.isdir(path): found = " ".join(os.listdir(path))
    else:
        with open(path) as file: found = file.read(200)
    if found.strip() == "": raise OSError(errno.ENODATA, "empty")
    return found
for name in """
sys/kernel/random/boot_id sys/fs/file-nr sys/fs/inode-nr sys/fs/inode-state sys/fs/dentry-state
sys/fs/quota crypto irq swaps misc devices consoles locks iomem ioports dma driver tty version
cmdline interrupts softirqs diskstats partitions modules vmstat zoneinfo loadavg pressure""".split():
    attempt(name, lambda: said("/proc/" + name))`,
  }),
];
