import { chmod, chown, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { allRefused, pythonAttack, shellAttack } from "../suite/programs.ts";
import type { Stage } from "../suite/stage.ts";

const isX64 = (): string | undefined => (process.arch === "x64" ? undefined : "the numbers are those of x86_64");

/** The group `mounts` has its user's folder `projects/app` there, to write in. */
const mounted = "/workspace/extra/app";

function onHost(stage: Stage, name: string): string {
  return join(stage.playground.userHome, "projects/app", name);
}

/** Numbers of system calls are those of x86_64. */
export const attacks: readonly Attack[] = [
  pythonAttack({
    id: "C22",
    title: "setuid and setgid in a writable mount, by each system call that sets a mode, by name and by number",
    expected: "each is refused, and no file on the host has the bits",
    group: "mounts",
    skip: isX64,
    program: `
os.chdir("${mounted}"); os.umask(0); write("victim"); p = ctypes.c_char_p(b"victim"); n = ctypes.c_char_p(b"made")
held = os.open("victim", os.O_RDWR)
how = lambda mode: (ctypes.byref((ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, mode, 0)), 24)
def on(name):
    if os.path.exists(name) and os.stat(name).st_mode & 0o6000: print("OPEN bits of", name)
for mode in (0o4755, 0o2755, 0o6755, 0o7777):
    for name, action in (("chmod", lambda: call(90, p, mode)), ("fchmod", lambda: call(91, held, mode)), ("fchmodat", lambda: call(268, -100, p, mode)), ("fchmodat2", lambda: call(452, -100, p, mode, 0)),
        ("fchmodat2-empty", lambda: call(452, held, ctypes.c_char_p(b""), mode, 0x1000)), ("fchmodat-proc", lambda: call(268, -100, ctypes.c_char_p(b"/proc/self/fd/%d" % held), mode)),
        ("creat", lambda: call(85, n, mode)), ("open", lambda: call(2, n, 0o101, mode)), ("open-high", lambda: call(2, n, 0o101, mode | 1 << 40)), ("openat", lambda: call(257, -100, n, 0o101, mode)), ("openat2", lambda: call(437, -100, n, *how(mode))),
        ("tmpfile", lambda: call(257, -100, ctypes.c_char_p(b"."), 0o20200001, mode)), ("mknod", lambda: call(133, n, stat.S_IFREG | mode, 0)), ("mknodat", lambda: call(259, -100, n, stat.S_IFREG | mode, 0)), ("mknod-untyped", lambda: call(133, n, mode, 0)),
        ("fifo", lambda: call(259, -100, n, stat.S_IFIFO | mode, 0)), ("os.chmod", lambda: os.chmod("victim", mode)), ("os.open", lambda: os.open("made", os.O_CREAT | os.O_WRONLY, mode))):
        attempt("%s %o" % (name, mode), action); on("victim"); on("made")
        if os.path.exists("made"): os.unlink("made")
for name, value in (("security.capability", b"\\1\\0\\0\\2" + b"\\xff" * 16), ("security.capability", b"\\1\\0\\0\\3" + b"\\xff" * 16 + b"\\0" * 4)): attempt("setxattr " + name, lambda: os.setxattr("victim", name, value))
attempt("setxattrat", lambda: call(463, -100, p, 0, ctypes.c_char_p(b"security.capability"), None, 0))
os.unlink("victim")`,
  }),
  shellAttack({
    id: "C23",
    title: "setuid and setgid by the usual tools: chmod, install, cp -p, tar -p, rsync, Python, Node, git",
    expected: "no file on the host has the bits",
    group: "mounts",
    program: `
cd ${mounted} && mkdir -p bits && cd bits
cp /bin/true a && for m in 4755 2755 6755 u+s g+s ug+s; do chmod $m a 2>/dev/null && echo OPEN chmod $m; done
for m in 4755 2755; do install -m $m /bin/true i$m 2>/dev/null; done
python3 - <<'MADE'
import io, os, shutil, stat, tarfile, zipfile
with tarfile.open("t.tar", "w") as tar:
    for name, mode in (("tu", 0o4755), ("tg", 0o2755)):
        info = tarfile.TarInfo(name); info.mode = mode; tar.addfile(info)
with zipfile.ZipFile("z.zip", "w") as pack:
    info = zipfile.ZipInfo("zu"); info.external_attr = (stat.S_IFREG | 0o4755) << 16; pack.writestr(info, "x")
for tool in (lambda: tarfile.open("t.tar").extractall(filter="fully_trusted"), lambda: shutil.unpack_archive("z.zip")):
    try: tool()
    except Exception: pass
MADE
tar -xpf t.tar 2>/dev/null; cp -a a copied; tar -cpf - a | (mkdir x; cd x; tar -xpf -)
node -e 'for (const f of [() => fs.chmodSync("a", 0o6755), () => fs.writeFileSync("n", "", { mode: 0o6755 }), () => fs.cpSync("a", "nc")]) try { f() } catch {}'
ln a linked; mv a moved
find . -type f -perm /6000 | sed 's/^/OPEN /'
cd .. && rm -rf bits; echo done`,
  }),
  {
    id: "C24",
    title: "a setuid file that somebody on the host has left in the mount: rewritten through a map, linked, renamed",
    from: "container",
    expected: "within moments of the turn the bits are gone from it, and it is on record",
    audit: { type: "setuid-removed", where: ({ group }) => group === "mounts" },
    skip: () => (process.geteuid?.() === 0 ? undefined : "the mount has to belong to another user than the host"),
    attempt: async (stage) => {
      await stage.shell("mounts", "true");
      for (const name of ["mapped", "linked", "renamed"]) {
        await writeFile(onHost(stage, name), "#!/bin/sh\n", { mode: 0o755 });
        await chown(onHost(stage, name), 1234, 1234);
      }
      const program = `
import mmap, os
os.chdir("${mounted}")
with open("mapped", "r+b") as file: mmap.mmap(file.fileno(), 0)[0:2] = b"#?"
os.link("linked", "linked.too"); os.rename("renamed", "renamed.away")`;
      // Made setuid by the host's user while the container runs, then touched by the agent.
      for (const name of ["mapped", "linked", "renamed"]) await chmod(onHost(stage, name), 0o6755);
      await stage.shell("mounts", `python3 - <<'X'\n${program}\nX`);
      await stage.shell("mounts", "true");
      const left: string[] = [];
      for (const name of ["mapped", "linked", "linked.too", "renamed.away"]) {
        const { mode } = await stat(onHost(stage, name));
        if ((mode & 0o6000) !== 0) left.push(name);
        await rm(onHost(stage, name));
      }
      return { seen: left.join(", ") || "no bits are left", holds: left.length === 0 };
    },
  },
  shellAttack({
    id: "C25",
    title: "a setgid folder in the mount, from which new files and folders inherit",
    expected: "files inherit the group and never the bit; the agent cannot set the bit itself",
    group: "mounts",
    program: `
cd ${mounted} && mkdir inherit && cd inherit
chmod g+s . 2>/dev/null && echo OPEN chmod of a folder
mkdir -m 2755 inner 2>/dev/null; mkdir -m 6755 inner2 2>/dev/null; : > inner/file 2>/dev/null
find . -perm /6000 | sed 's/^/OPEN /'
cd .. && rm -rf inherit; echo done`,
  }),
  {
    id: "C26",
    title:
      "pseudo-terminals: two containers take as many as they can get; the machine has a few thousand for everybody",
    from: "container",
    expected: "neither gets one, and the host still has them",
    audit: { type: "tool-call", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      const program = `
import os
taken = 0
for path in ("/dev/ptmx", "/dev/pts/ptmx"):
    try:
        while taken < 4000: os.open(path, os.O_RDWR | os.O_NOCTTY); taken += 1
    except OSError as error: print("refused", path, error.errno)
try: os.openpty(); print("OPEN openpty")
except OSError as error: print("refused openpty", error.errno)
try: os.mknod("/tmp/ptmx", 0o20666, os.makedev(5, 2)); print("OPEN mknod")
except OSError as error: print("refused mknod", error.errno)
if taken: print("OPEN", taken)
print("done")`;
      const command = `python3 - <<'X'\n${program}\nX`;
      const found = await Promise.all(
        (["red", "blue"] as const).map(async (group) => allRefused((await stage.shell(group, command)).output)),
      );
      return { seen: found.map(({ seen }) => seen).join("; "), holds: found.every(({ holds }) => holds) };
    },
  },
];
