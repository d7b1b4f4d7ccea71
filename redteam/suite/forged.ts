import { protocolVersion } from "../../src/protocol/version.ts";
import type { Attack, Evidence } from "./attack.ts";
import type { Stage } from "./stage.ts";

/** The record of a message of the red group that was refused for such a reason. */
export const violation = (reason: RegExp): Attack["audit"] => ({
  type: "mailbox-violation",
  where: ({ group, data }) => group === "red" && reason.test(String(data["reason"])),
});

/**
 * In Python: `box` is the mailbox, `name(n)` a message's name far ahead of the agent's own, `forge(n, payload)` a
 * message.
 */
const forgery = `
import json, os, re, signal, time
box = "/mail/to-host/"
version = ${protocolVersion}
generation = int(re.search(r"CRABPOT_GENERATION=(\\d+)", open("/proc/1/environ", errors="replace").read()).group(1))
def name(n): return box + "%012d.json" % (900000 + n)
def put(path, data):
    with open(box + ".000000900000.json.part", "wb") as f: f.write(data if isinstance(data, bytes) else data.encode())
    os.rename(box + ".000000900000.json.part", path)
def forge(n, payload, **more): put(name(n), json.dumps({"version": version, "id": 900000 + n, "generation": generation, "acked": 0, "payload": payload, **more}))
`;

/**
 * The agent's own messages come too late after forged ones, so its container is ended; the turn goes on in a new one.
 */
const suicide = `
for i in range(600):
    if not any(n.startswith("0000009") for n in os.listdir(box)): break
    time.sleep(0.05)
time.sleep(0.2)
os.kill(-1, signal.SIGKILL)
`;

/** Watches the host's messages, which disappear once the agent has read them; of several a watcher sees one. */
const watchTurn = `rm -f /tmp/turn /tmp/looking; (setsid python3 - >/dev/null 2>&1 <<'REDTEAM' &
import ctypes, os, re, signal, struct
signal.alarm(60)
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(0); moved_to = 0x80
libc.inotify_add_watch(watch, b"/mail/to-agent", moved_to)
open("/tmp/looking", "w").close()
while True:
    events = os.read(watch, 65536)
    while events:
        length = struct.unpack_from("iIII", events)[3]
        name, events = events[16:16 + length].rstrip(b"\\0"), events[16 + length:]
        try: found = re.search(rb'"turn":"([^"]+)"', open(b"/mail/to-agent/" + name, "rb").read())
        except OSError: continue
        if found: open("/tmp/turn", "wb").write(found[1]); raise SystemExit
REDTEAM
); until [ -e /tmp/looking ]; do sleep 0.05; done`;

/**
 * A busy machine may let the watcher miss most of them. No two are the same: a turn that goes round in circles is
 * stopped.
 */
const messagesToSee = Array.from({ length: 12 }, (_, index) => `[ -e /tmp/turn ] || sleep 0.1 # ${index}`);

type Forged = Pick<Attack, "id" | "title" | "expected" | "audit"> & {
  readonly program: string;
  /** Needs the turn's id, which a background process first reads from the host's messages. */
  readonly knowsTurn?: boolean;
  readonly hostStaysAwake?: boolean;
  readonly judge?: (stage: Stage) => Promise<Evidence> | Evidence;
};

/** An attack that writes messages which the agent's own cannot follow. The next turn must work. */
export function forgedAttack({ program, judge, knowsTurn = false, ...attack }: Forged): Attack {
  return {
    from: "container",
    ...attack,
    attempt: async (stage) => {
      const { output: trace } = await stage.shell(
        "red",
        ...(knowsTurn ? [watchTurn, ...messagesToSee] : []),
        `python3 - <<'REDTEAM'\n${forgery}${program}${suicide}\nREDTEAM`,
      );
      if (trace.includes("Traceback")) return { seen: `the attack itself failed: ${trace.slice(-300)}`, holds: false };
      const { output } = await stage.shell("red", "echo alive");
      if (!output.includes("alive")) return { seen: `the next turn gave: ${output}`, holds: false };
      const leaked = stage.host.output.includes(stage.canaries.file);
      if (leaked) return { seen: "the secret is in the host's log", holds: false };
      return judge ? judge(stage) : { seen: "refused; the next turn works", holds: true };
    },
  };
}
