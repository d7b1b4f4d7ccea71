import { glob, readFile } from "node:fs/promises";

import type { Attack } from "../suite/attack.ts";

const mark = `redteam-left-${process.pid}`;

/** Names of processes of the whole machine that an attack has left, by what they call themselves. */
async function left(): Promise<string[]> {
  const lines = await Array.fromAsync(glob("/proc/[0-9]*/cmdline"), (file) => readFile(file, "utf8").catch(() => ""));
  return lines.map((line) => line.split("\0")[0] ?? "").filter((name) => name.startsWith(mark));
}

export const attacks: readonly Attack[] = [
  {
    id: "C27",
    title: "processes that outlive their turn: nohup, setsid, a double fork, a new session; then /new",
    from: "container",
    expected: "with the old conversation all of them are gone",
    audit: { type: "container-stop", where: ({ data }) => String(data["reason"]).includes("new conversation") },
    attempt: async (stage) => {
      const program = `
nohup bash -c 'exec -a ${mark}-nohup sleep 600' >/dev/null 2>&1 &
setsid bash -c 'exec -a ${mark}-setsid sleep 600' >/dev/null 2>&1 &
(trap '' HUP TERM INT; exec -a ${mark}-trap sleep 600) >/dev/null 2>&1 & disown
python3 - <<'X'
import os, signal, sys
if os.fork(): sys.exit()
os.setsid()
if os.fork(): sys.exit()
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
os.closerange(0, 100); os.chdir("/")
os.execvp("sleep", ["${mark}-daemon", "600"])
X
for name in nohup setsid trap daemon; do until grep -qas ^${mark}-$name /proc/[0-9]*/cmdline; do sleep 0.05; done; done; echo started`;
      const { output } = await stage.shell("red", program);
      const before = (await left()).length;
      await stage.ask("red", "/new");
      const after = await left();
      return {
        seen: `${before} before, ${after.length} after: ${after.join(", ")}`,
        holds: output.includes("started") && before >= 4 && after.length === 0,
      };
    },
  },
];
