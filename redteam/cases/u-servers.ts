import type { Attack, Evidence } from "../suite/attack.ts";
import { allRefused, attackPrelude } from "../suite/programs.ts";
import type { Stage } from "../suite/stage.ts";
import { serverName } from "../suite/stage-server.ts";
import { isSoon } from "../suite/waiting.ts";

/** Output of the server's program, as the model saw it. */
async function run(stage: Stage, code: string): Promise<string> {
  return (await stage.calls("served", [[{ name: `${serverName}__run`, input: { code } }]])).output;
}

/** Ends the server's container however it likes; a call after it has to work again, and the host must not. */
async function recovers(stage: Stage, code: string): Promise<Evidence> {
  const first = await run(stage, code);
  const blue = await stage.ask("blue", "@crab are you there?");
  const isAlive = await isSoon(async () => (await run(stage, `print("alive")`)).includes("alive"));
  return { seen: first.slice(0, 120), holds: isAlive && blue.kind === "reply" };
}

const called: Attack["audit"] = { type: "tool-call", where: (record) => record.group === "served" };

function serverAttack({
  id,
  title,
  program,
  quick,
}: Pick<Attack, "id" | "title"> & { readonly program: string; readonly quick?: boolean }): Attack {
  return {
    id,
    title: `an MCP server tries to ${title}`,
    from: "container",
    expected: "refused",
    audit: called,
    ...(quick === true && { quick }),
    attempt: async (stage) => allRefused(await run(stage, `${attackPrelude}${program}\nprint("done")`)),
  };
}

export const attacks: readonly Attack[] = [
  serverAttack({
    id: "U1",
    title: "leave its container",
    quick: true,
    program: `
attempt("mount", lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, None) if x86_64() else write("/proc/sys/kernel/core_pattern"))
attempt("unshare", lambda: call(272, 0x10000000) if x86_64() else write("/proc/sysrq-trigger"))
attempt("device", lambda: os.mknod("/data/disk", stat.S_IFBLK | 0o600, os.makedev(8, 0)))
attempt("root", lambda: os.setuid(0))
attempt("core pattern", lambda: write("/proc/sys/kernel/core_pattern", "|/bin/sh"))
attempt("setuid bit", lambda: os.chmod("/data", 0o4755))`,
  }),
  serverAttack({
    id: "U2",
    title: "reach a network or the engine",
    quick: true,
    program: `
def reach(host, port): return socket.create_connection((host, port), 2)
for host, port in (("1.1.1.1", 53), ("169.254.169.254", 80), ("172.17.0.1", 22), ("127.0.0.1", 3128)):
    attempt(f"{host}:{port}", lambda: reach(host, port))
for path in ("/var/run/docker.sock", "/run/containerd/containerd.sock", "/egress/proxy.sock"):
    attempt(path, lambda: socket.socket(socket.AF_UNIX).connect(path))`,
  }),
  serverAttack({
    id: "U3",
    title: "change what it is made from, or see a group's files",
    program: `
attempt("its program", lambda: write("/opt/mcp/main.py"))
attempt("the starter", lambda: write("/opt/crabpot/server.py"))
attempt("the root", lambda: write("/usr/local/bin/node"))
for path in ("/workspace/group/AGENTS.md", "/workspace/global/AGENTS.md"):
    attempt(path, lambda: open(path).read())
if os.path.exists("/mail/to-agent") and os.listdir("/mail/to-agent"): print("OPEN mailbox")`,
  }),
  {
    id: "U4",
    title: "an MCP server looks for secrets of the host, of groups and of models",
    from: "container",
    expected: "none is there",
    audit: called,
    attempt: async (stage) => {
      const output = await run(
        stage,
        `import glob, os
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/data/**", recursive=True) + glob.glob("/opt/mcp/**", recursive=True):
    try: print(open(path, errors="replace").read().replace(chr(0), " "))
    except OSError: pass
print("done")`,
      );
      const found = Object.entries(stage.canaries).filter(([, value]) => output.includes(value));
      const seen = found.map(([name]) => name).join(", ") || "nothing";
      return { seen, holds: found.length === 0 && output.includes("done") };
    },
  },
  {
    id: "U5",
    title: "an MCP server starts processes without end",
    from: "container",
    expected: "its own limit stops it; the host and other groups notice nothing",
    audit: called,
    hostStaysAwake: true,
    attempt: (stage) =>
      recovers(
        stage,
        `import os, signal
count = 0
try:
    while count < 5000:
        if os.fork() == 0:
            signal.pause()
        count += 1
    print("OPEN")
except OSError:
    print("refused after", count)
os.kill(0, signal.SIGKILL)`,
      ),
  },
  {
    id: "U6",
    title: "an MCP server takes all memory",
    from: "container",
    expected: "it is ended alone, the call fails, and the next one has a new container",
    audit: called,
    hostStaysAwake: true,
    attempt: (stage) => recovers(stage, `x = []\nwhile True: x.append(b"x" * 2 ** 24)`),
  },
  {
    id: "U7",
    title: "an MCP server floods its output and its errors with what is no message",
    from: "container",
    expected: "it waits or is ended; the host stays awake and small",
    audit: called,
    hostStaysAwake: true,
    attempt: (stage) =>
      recovers(
        stage,
        `import os
for _ in range(2000):
    os.write(1, b"\\x1b[2J" + b"x" * 65536)
    os.write(2, b"\\x1b[31m error\\n" * 100)
os._exit(0)`,
      ),
  },
];
