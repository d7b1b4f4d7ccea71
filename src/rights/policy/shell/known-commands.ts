import type { ToolRisk } from "../../../protocol/tools.ts";

/** Meaning of a command's operands. */
export type Operands =
  /** Opened and shown. */
  | "read"
  /** A pattern first, then files that are shown. */
  | "searched"
  /** Text, or names that are looked at and not opened. */
  | "named"
  /** All are written, changed or removed; or only the last; or only the second. */
  | "written"
  | "last-written"
  | "second-written"
  /** Names of variables of the shell that are set, each possibly with `=value`. */
  | "variables"
  /** There should be none: with one the command changes something. */
  | "none";

/** Commands with rules in `special-commands.ts`. */
export type Special =
  | "alias"
  | "awk"
  | "cd"
  | "command"
  | "dd"
  | "env"
  | "eval"
  | "find"
  | "git"
  | "interpreter"
  | "kill"
  | "rm"
  | "rsync"
  | "sed"
  | "shell"
  | "source"
  | "tar"
  | "trap"
  | "xargs";

/** Options that make a call riskier, and why: "`sort -o x` writes a file". */
export interface Raise {
  readonly options: readonly string[];
  readonly risk: ToolRisk;
  readonly does: string;
  /** The next word, or the rest of this one, is a file or folder to write. */
  readonly writesTo?: boolean;
}

/** Runs the command after its options and the first `skips` operands. */
export interface Wrapper {
  readonly skips: number;
}

/** Facts about a command. */
export interface CommandFacts {
  /** With none of the below. */
  readonly risk: ToolRisk;
  /** Effect of a call that is not low: "`touch x` changes files". */
  readonly does: string;
  readonly operands: Operands;
  readonly raises?: readonly Raise[];
  /** Words that make a call low. */
  readonly lowWith?: readonly string[];
  /** Options whose value is the next word, or the rest of this one. */
  readonly values?: readonly string[];
  readonly special?: Special;
  readonly wraps?: Wrapper;
  /** Facts by first operand; others use the facts here. */
  readonly subcommands?: ReadonlyMap<string, CommandFacts>;
}

type Entry = readonly [names: string, facts: CommandFacts];
type Extra = Partial<Omit<CommandFacts, "risk" | "does" | "subcommands">> & {
  readonly subcommands?: readonly Entry[];
};

function entry(names: string, risk: ToolRisk, does: string, { subcommands, ...extra }: Extra): Entry {
  const facts = { risk, does, operands: "read" as const, ...extra };
  return [names, subcommands ? { ...facts, subcommands: byName(subcommands) } : facts];
}

const low = (names: string, extra: Extra = {}): Entry => entry(names, "low", "", extra);
const medium = (does: string, names: string, extra: Extra = {}): Entry => entry(names, "medium", does, extra);
const high = (does: string, names: string, extra: Extra = {}): Entry => entry(names, "high", does, extra);
const raise = (risk: ToolRisk, options: string, does: string): Raise => ({ risk, options: words(options), does });
const writesTo = (options: string): Raise => ({ ...raise("medium", options, writes), writesTo: true });
const words = (text: string): readonly string[] => text.split(" ");

function byName(entries: readonly Entry[]): ReadonlyMap<string, CommandFacts> {
  const facts = new Map<string, CommandFacts>();
  for (const [names, what] of entries)
    for (const name of words(names)) {
      if (facts.has(name)) throw new Error(`${name} stands in two groups of commands.`);
      facts.set(name, what);
    }
  return facts;
}

const writes = "writes files";
const changes = "changes files";
const network = "reaches the network";
const installs = "installs software";
const runsScripts = "runs scripts whose content is not seen";
const outside = "reaches beyond the group's folder";
const otherUser = "runs as another user";
const watches = "looks into or steers other processes";

const gitReads = {
  raises: [
    writesTo("--output"),
    raise("high", "--ext-diff --textconv -O --open-files-in-pager", "runs programs that the repository names"),
  ],
};

const gitCommands: readonly Entry[] = [
  low("status log diff show shortlog whatchanged blame annotate grep describe help version", gitReads),
  low("rev-parse rev-list ls-files ls-tree cat-file merge-base name-rev show-ref for-each-ref show-branch", gitReads),
  low("diff-tree diff-index diff-files count-objects check-ignore var", gitReads),
  low("branch", {
    operands: "none",
    lowWith: words("--list -l --contains --merged --no-merged"),
    raises: [
      raise("medium", "-d -D -m -M -c -C -f -u --delete --move --copy --force --set-upstream-to", "changes branches"),
      raise("medium", "--unset-upstream --edit-description", "changes branches"),
    ],
  }),
  low("tag", {
    operands: "none",
    lowWith: words("--list -l --contains --points-at"),
    raises: [raise("medium", "-a -s -d -f -m -F --delete --force --annotate", "changes tags")],
  }),
  low("remote", {
    operands: "none",
    subcommands: [low("get-url"), high(network, "show update prune"), medium("changes where git sends things", "add")],
  }),
  medium("changes the repository's settings", "config", {
    operands: "named",
    lowWith: words("--get --get-all --get-regexp --list -l"),
    subcommands: [low("get list", { operands: "named" })],
  }),
  medium("changes the repository", "stash worktree submodule reflog", {
    subcommands: [low("list show"), high(network, "update add")],
  }),
  high("runs commands at each step", "bisect filter-branch difftool mergetool"),
  high(
    network,
    "fetch pull clone ls-remote remote-http remote-https send-email request-pull svn p4 lfs archive daemon",
  ),
  high("sends commits to another machine", "push", {
    raises: [raise("high", "--force -f --force-with-lease --mirror --delete -d --prune", "rewrites what others have")],
  }),
  high("deals with credentials", "credential credential-store credential-cache"),
  medium("changes the repository or its files", "add am apply checkout cherry-pick clean commit gc init merge", {
    operands: "named",
  }),
  medium(
    "changes the repository or its files",
    "mv notes pack-refs prune repack reset restore revert rm switch update-ref",
    {
      operands: "named",
    },
  ),
  medium("changes the repository or its files", "rebase", {
    operands: "named",
    raises: [raise("high", "-x --exec", "runs commands at each step")],
  }),
];

/** Lists come first, in groups by what a command can do; a command stands in one group only. */
const groups: readonly Entry[] = [
  // Shows what is in files.
  low("cat tac head tail wc nl rev fold fmt cut paste join comm expand unexpand column tr tsort cksum md5sum sha1sum"),
  low(
    "sha224sum sha256sum sha384sum sha512sum b2sum sum od hexdump strings cmp diff diff3 zcat bzcat xzcat base64 base32",
  ),
  low("jq bc numfmt", { operands: "searched" }),
  low("grep egrep fgrep zgrep", { operands: "searched", values: words("-e -f -m -A -B -C --regexp --file") }),
  low("rg", {
    operands: "searched",
    values: words("-e -f -m -A -B -C -g -t -T -j -r --regexp --file --glob --type"),
    raises: [raise("high", "--pre --hostname-bin --search-zip -z", "runs other programs")],
  }),
  low("sort", {
    values: words("-k -t -S -T"),
    raises: [writesTo("-o --output"), raise("high", "--compress-program", "runs another program")],
  }),
  low("shuf", { raises: [writesTo("-o --output")] }),
  low("uniq", { operands: "second-written", values: words("-f -s -w") }),
  low("xxd", { operands: "second-written", values: words("-c -g -l -o -s -n") }),
  low("iconv", { values: words("-f -t"), raises: [writesTo("-o --output")] }),
  low("sed", { special: "sed" }),
  low("awk gawk mawk nawk", { special: "awk" }),

  // Shows what there is.
  low("ls dir vdir stat readlink realpath du df basename dirname pathchk", { operands: "named" }),
  low("file", { operands: "named", raises: [raise("medium", "-C --compile", writes)] }),
  low("tree", { operands: "named", raises: [writesTo("-o --output"), raise("medium", "-R", writes)] }),
  low("find", { special: "find" }),
  low(
    "pwd whoami id groups logname uname nproc arch tty uptime free ps pgrep who w users last locale getconf lscpu cal",
    {
      operands: "named",
    },
  ),
  low("printenv which type jobs help", { operands: "named" }),
  low("date", { operands: "named", values: words("-d -r"), raises: [raise("medium", "-s --set", "sets the clock")] }),
  low("hostname", { operands: "none", raises: [raise("medium", "-F -b --file", "sets the name of the machine")] }),

  // Computes and waits; the shell's own words.
  low("echo test [ true false : sleep seq expr factor yes break continue return exit shift wait times set", {
    operands: "named",
  }),
  low("printf", { operands: "named", raises: [raise("high", "-v", "sets a variable by its name")] }),
  low("unset export readonly read getopts", { operands: "variables" }),
  low("declare typeset local", {
    operands: "variables",
    raises: [raise("high", "-n", "makes a name stand for another variable")],
  }),
  low("mapfile readarray", { operands: "variables", raises: [raise("high", "-C", "runs a command for each line")] }),
  low("cd pushd popd", { special: "cd" }),
  low("alias", { special: "alias" }),
  low("hash", { operands: "none", raises: [raise("high", "-p", "makes a name run another program")] }),
  medium("changes how the shell works", "shopt umask ulimit let unalias disown fg bg", { operands: "named" }),
  high("changes which commands there are", "enable bind complete compopt", { operands: "named" }),
  low("eval", { special: "eval" }),
  low("trap", { special: "trap" }),
  medium(runsScripts, "source .", { special: "source" }),
  medium("ends processes", "kill", { special: "kill" }),
  medium("ends processes", "pkill killall", { operands: "named" }),

  // Runs another command.
  low("command builtin", { special: "command" }),
  low("exec", { wraps: { skips: 0 }, values: words("-a") }),
  low("env", { special: "env" }),
  low("nohup setsid unbuffer busybox toybox", { wraps: { skips: 0 } }),
  low("nice", { wraps: { skips: 0 }, values: words("-n --adjustment") }),
  low("ionice", { wraps: { skips: 0 }, values: words("-c -n --class --classdata") }),
  low("stdbuf", { wraps: { skips: 0 }, values: words("-i -o -e --input --output --error") }),
  low("timeout", { wraps: { skips: 1 }, values: words("-k -s --kill-after --signal") }),
  low("taskset chrt setarch", { wraps: { skips: 1 } }),
  low("time", {
    wraps: { skips: 0 },
    values: words("-f -o --format --output"),
    raises: [writesTo("-o --output")],
  }),
  medium("locks a file", "flock", {
    wraps: { skips: 1 },
    values: words("-w -E --timeout --wait"),
    raises: [raise("high", "-c --command", "runs text as a command")],
  }),
  low("xargs", { special: "xargs" }),
  medium("runs commands", "sh bash dash zsh ksh ash mksh rbash fish", { special: "shell" }),
  high("runs text as commands", "parallel watch script expect at batch crontab"),
  high(otherUser, "sudo doas su pkexec runuser"),

  // Changes files.
  medium(changes, "touch mkdir rmdir chmod chown chgrp truncate tee patch ln mv split csplit mkfifo setfacl", {
    operands: "written",
  }),
  medium("removes files", "unlink shred", { operands: "written" }),
  medium("removes files", "rm", { special: "rm" }),
  medium(changes, "cp install", {
    operands: "last-written",
    values: words("-t -m -o -g --target-directory --mode"),
  }),
  medium("copies bytes to a file", "dd", { special: "dd" }),
  medium("copies files", "rsync", { special: "rsync" }),
  medium(changes, "ed ex vi vim nano emacs", { operands: "written" }),
  medium("unpacks or packs files", "tar", { special: "tar" }),
  medium("unpacks files", "unzip", { lowWith: words("-l -p -t -v -Z -z"), raises: [writesTo("-d")] }),
  low("zipinfo"),
  medium("packs files", "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd", {
    operands: "written",
    lowWith: words("-l -c -t --list --stdout --to-stdout --test"),
  }),
  medium("packs files", "zip 7z 7za cpio ar", {
    operands: "written",
    raises: [raise("high", "-TT --unzip-command", "runs a program")],
  }),
  medium(writes, "pdftotext", { operands: "second-written", lowWith: ["-"] }),
  low("pdfinfo pdffonts"),

  // Programs in other languages, and what builds and tests.
  medium("runs code", "python pypy node nodejs deno bun perl ruby php lua Rscript julia tclsh pwsh", {
    special: "interpreter",
  }),
  medium(runsScripts, "make gmake cmake ninja gradle mvn ant tox nox just rake", { operands: "named" }),
  medium("builds or runs what is in the folder", "go cargo", {
    operands: "named",
    subcommands: [low("version"), high(installs, "get install mod add update fetch publish search download login")],
  }),
  high(network, "npm pnpm yarn", {
    lowWith: ["-v"],
    operands: "named",
    subcommands: [low("ls list root prefix bin help"), medium(runsScripts, "run run-script test t start stop")],
  }),
  high(installs, "pip pip3 pipx uv poetry conda", {
    operands: "named",
    subcommands: [low("list show freeze check"), medium("removes software", "uninstall")],
  }),
  high(installs, "apt apt-get aptitude apk yum dnf zypper pacman brew gem bundle snap flatpak composer npx bunx pnpx", {
    subcommands: [low("list")],
  }),
  medium(installs, "dpkg rpm", { lowWith: words("-l -L -s -S -c -I -q -qa --list --status"), operands: "named" }),

  // Reaches other machines.
  medium("works on a repository", "git", { special: "git" }),
  high(
    network,
    "curl wget ssh scp sftp ftp tftp nc ncat netcat socat telnet aria2c lynx links w3m http https xh httpie",
  ),
  high(
    network,
    "dig nslookup host whois ping ping6 traceroute tracepath mtr nmap openssl ssh-keyscan ssh-add ssh-agent",
  ),
  high(network, "gh glab aws gcloud az s3cmd rclone restic borg mail sendmail mutt msmtp psql mysql redis-cli mongosh"),
  high("steers containers", "docker podman nerdctl kubectl helm crictl ctr runc"),

  // Reaches for the machine.
  high(
    outside,
    "mount umount losetup mkfs fdisk parted mkswap swapon swapoff chroot nsenter unshare pivot_root setpriv",
  ),
  high(
    outside,
    "capsh modprobe insmod rmmod kexec sysctl iptables ip6tables nft ip ifconfig route tc systemctl service",
  ),
  high(
    outside,
    "reboot shutdown poweroff halt init telinit useradd usermod userdel passwd chpasswd visudo setcap setenforce",
  ),
  high(outside, "mknod debugfs hdparm bpftool keyctl"),
  high(watches, "strace ltrace gdb gdbserver ptrace perf bpftrace lldb rr gcore"),
];

const known = byName(groups);

/** Words of the shell's grammar: no function may have their names, either. */
const keywords = new Set(
  words("if then else elif fi for while until do done case esac in select function time coproc"),
);

/**
 * Undefined for what is not known. `mkfs.ext4` counts as `mkfs` and `python3.12` as `python`, but nothing as a command
 * that is low.
 */
export function findCommand(name: string): CommandFacts | undefined {
  const exact = known.get(name);
  if (exact) return exact;
  const family = known.get(name.replace(/(?:-?\d[\d.]*|\.\w+)$/, ""));
  return family?.risk === "low" ? undefined : family;
}

/** True when a function or alias of this name would replace a known command. */
export function isTaken(name: string): boolean {
  return known.has(name) || keywords.has(name);
}

/** Facts about git's subcommands. */
export const gitSubcommands = byName(gitCommands);

/** Variables that change what commands run, load or are shown by. */
export const steeringVariable =
  /^(?:PATH|IFS|ENV|BASH_ENV|BASH_FUNC_.*|BASH_LOADABLES_PATH|BASHOPTS|SHELLOPTS|PROMPT_COMMAND|PS[0124]|CDPATH|GLOBIGNORE|HOME|SHELL|XDG_CONFIG_.*|LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|GIT_.*|.*PAGER|EDITOR|VISUAL|BROWSER|LESS|LESSOPEN|LESSCLOSE|TAR_OPTIONS|GREP_OPTIONS|RIPGREP_CONFIG_PATH|POSIXLY_CORRECT|AWKPATH|AWKLIBPATH|MAKEFLAGS|PYTHON(?:PATH|STARTUP|HOME|INSPECT|USERBASE|BREAKPOINT|WARNINGS)|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_.*)|npm_config_.*|PERL.*|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|SSH_.*|SUDO_.*|.*_proxy|.*_PROXY|TMPDIR|JQ_.*|UNZIP|ZIPOPT|GZIP|RSYNC_.*|DOCKER_.*)$/;
