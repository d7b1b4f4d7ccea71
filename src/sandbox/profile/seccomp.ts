/** A profile in the form that the Engine API takes inline in `SecurityOpt`. */
export interface SeccompProfile {
  readonly defaultAction: "SCMP_ACT_ERRNO";
  readonly archMap: readonly { readonly architecture: string; readonly subArchitectures: readonly string[] }[];
  readonly syscalls: readonly SeccompRule[];
}

export interface SeccompRule {
  readonly names: readonly string[];
  readonly action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  readonly errnoRet?: number;
  readonly args?: readonly SeccompCondition[];
}

interface SeccompCondition {
  readonly index: number;
  readonly op: "SCMP_CMP_EQ" | "SCMP_CMP_MASKED_EQ";
  readonly value: number;
  /** Value after masking, for `SCMP_CMP_MASKED_EQ`. */
  readonly valueTwo?: number;
}

/** ENOSYS, on which C libraries fall back to the older call. EPERM would be reported to the program. */
const notImplemented = 38;

const files = `
  access chdir chown close close_range copy_file_range dup dup2 dup3 faccessat faccessat2 fadvise64
  fallocate fchdir fchown fchownat fcntl fdatasync fgetxattr flistxattr flock
  fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr
  inotify_add_watch inotify_init inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link linkat listxattr
  llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat newfstatat pread64 preadv
  preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr rename renameat renameat2
  rmdir sendfile setxattr stat statfs statx symlink symlinkat sync sync_file_range syncfs truncate umask
  unlink unlinkat utime utimensat utimes write writev`;

const memory = `
  brk madvise membarrier memfd_create mincore mlock mlock2 mlockall mmap mprotect mremap mseal msync munlock
  munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages`;

const processes = `
  alarm arch_prctl capget capset execve execveat exit exit_group fork futex futex_requeue futex_wait futex_waitv
  futex_wake get_robust_list get_thread_area getcpu getegid geteuid getgid getgroups getitimer getpgid getpgrp getpid
  getppid getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid ioprio_get ioprio_set kill
  landlock_add_rule landlock_create_ruleset landlock_restrict_self pause pidfd_open pidfd_send_signal prctl prlimit64
  restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
  rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
  sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
  sched_setscheduler sched_yield seccomp set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid
  setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setuid sigaltstack
  sysinfo tgkill times tkill uname vfork wait4 waitid`;

const waiting = `
  clock_getres clock_gettime clock_nanosleep epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
  epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 getrandom gettimeofday nanosleep pipe pipe2 poll ppoll
  pselect6 select signalfd signalfd4 time timer_create timer_delete timer_getoverrun timer_gettime timer_settime
  timerfd_create timerfd_gettime timerfd_settime`;

const sockets = `
  accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg
  sendto setsockopt shutdown`;

const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const kind = { mask: 0xf, stream: 1, datagram: 2 } as const;
const transport = { any: 0, tcp: 6, udp: 17 } as const;

/** CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}: a new namespace of any kind. */
const newNamespaces = 0x7e02_0000;

const fileType = { mask: 0o170000, regular: 0o100000, fifo: 0o010000 } as const;

/**
 * S_ISUID and S_ISGID. The nosuid of a mount keeps them from working in the container, not from staying on the host.
 */
const setIdBits = 0o6000;

/** O_CREAT and __O_TMPFILE, without which an open call has no mode: callers leave anything in its register then. */
const creating = 0o20000100;

/**
 * The system calls of the agent's container: what Node, workers, git, Python, curl and compilers need, and no more. All
 * else fails with EPERM, among it io_uring, bpf, perf, userfaultfd, ptrace, key rings, System V and POSIX message
 * queues, namespaces, mounts, file handles, modules and clocks. Only the native instruction set is listed, so that a
 * 32-bit call (whose multiplexed socket call no filter can look into) ends the thread that makes it.
 */
export const seccompProfile: SeccompProfile = {
  defaultAction: "SCMP_ACT_ERRNO",
  archMap: [
    { architecture: "SCMP_ARCH_X86_64", subArchitectures: [] },
    { architecture: "SCMP_ARCH_AARCH64", subArchitectures: [] },
  ],
  syscalls: [
    allow(words(files, memory, processes, waiting, sockets)),
    ...socketRules(),
    allow(["socketpair"], equal(0, family.unix)),
    allow(["clone"], masked(0, newNamespaces, 0)),
    { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: notImplemented },
    // They put pages of files that may only be read into pipes. Holes of the kernel (CVE-2022-0847 and several of 2026)
    // wrote to such pages, which the files of an image share with all other containers. Programs copy instead.
    { names: ["splice", "tee", "vmsplice"], action: "SCMP_ACT_ERRNO", errnoRet: notImplemented },
    ...modeRules(),
    // Its mode is in memory, where no filter can look.
    { names: ["openat2"], action: "SCMP_ACT_ERRNO", errnoRet: notImplemented },
    // The ordinary personality, and asking which one it is.
    allow(["personality"], equal(0, 0)),
    allow(["personality"], equal(0, 0xffff_ffff)),
  ],
};

/**
 * Unix sockets, TCP, UDP, and netlink for the list of interfaces. A protocol that is not named would make the kernel
 * load its module for anybody who asks; families such as VSOCK and ALG do not even stop at the network namespace.
 */
function socketRules(): SeccompRule[] {
  const internet = [family.inet, family.inet6].flatMap((version) => [
    [version, kind.stream, transport.any] as const,
    [version, kind.stream, transport.tcp] as const,
    [version, kind.datagram, transport.any] as const,
    [version, kind.datagram, transport.udp] as const,
  ]);
  return [
    allow(["socket"], equal(0, family.unix)),
    allow(["socket"], equal(0, family.netlink), equal(2, 0)),
    ...internet.map(([version, type, protocol]) =>
      allow(["socket"], equal(0, version), masked(1, kind.mask, type), equal(2, protocol)),
    ),
  ];
}

/**
 * Everything that sets the mode of a file, without setuid and setgid: in a writable mount such a file would be a
 * program of the folder's owner for everybody on the host. FIFOs and empty files are made with mknod; devices are not.
 */
function modeRules(): SeccompRule[] {
  return [
    allow(["chmod", "creat", "fchmod"], masked(1, setIdBits, 0)),
    allow(["fchmodat", "fchmodat2"], masked(2, setIdBits, 0)),
    allow(["open"], masked(1, creating, 0)),
    allow(["open"], masked(2, setIdBits, 0)),
    allow(["openat"], masked(2, creating, 0)),
    allow(["openat"], masked(3, setIdBits, 0)),
    ...[fileType.fifo, fileType.regular].flatMap((type) => [
      allow(["mknod"], masked(1, fileType.mask | setIdBits, type)),
      allow(["mknodat"], masked(2, fileType.mask | setIdBits, type)),
    ]),
  ];
}

function allow(names: readonly string[], ...args: readonly SeccompCondition[]): SeccompRule {
  return { names, action: "SCMP_ACT_ALLOW", ...(args.length > 0 ? { args } : {}) };
}

function equal(index: number, value: number): SeccompCondition {
  return { index, op: "SCMP_CMP_EQ", value };
}

function masked(index: number, mask: number, value: number): SeccompCondition {
  return { index, op: "SCMP_CMP_MASKED_EQ", value: mask, valueTwo: value };
}

function words(...texts: readonly string[]): string[] {
  return texts
    .flatMap((text) => text.split(/\s+/))
    .filter((word) => word !== "")
    .toSorted();
}
