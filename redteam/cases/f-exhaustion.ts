import { access, readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { AppError } from "../../src/lib/app-error.ts";
import type { Attack, Evidence } from "../suite/attack.ts";
import { attackDuringEdit, restoreInstructions } from "../suite/instructions.ts";
import { shellAttack } from "../suite/programs.ts";
import type { Stage } from "../suite/stage.ts";
import { isSoon } from "../suite/waiting.ts";

function limitHit(limit: string): Attack["audit"] {
  return { type: "limit-hit", where: ({ group, data }) => group === "red" && data["limit"] === limit };
}

/** Waits for a file that an attack makes when it has come so far. */
async function untilThere(path: string): Promise<void> {
  const isThere = (): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );
  if (!(await isSoon(isThere))) throw new AppError("not_found", `${path} was never there.`);
}

/** Runs a command that must hit a limit; the chat has to be told, and the next turn has to work. */
async function hitLimit(stage: Stage, command: string, notice: RegExp): Promise<Evidence> {
  const after = (await stage.allReplies()).at(-1)?.seq ?? 0;
  await stage.shell("red", command);
  const told = await stage.replyWhere(
    ({ group, kind, text }) => group === "red" && kind === "notice" && notice.test(text),
    after,
  );
  const { output } = await stage.shell("red", "echo alive");
  return { seen: `chat: ${told.text}`, holds: output.includes("alive") };
}

/** In Python without single quotes: several hundred times a second something else is put in the place of AGENTS.md. */
const everyKindInTurn = (secret: string): string => `
import os, time
def hole(): os.close(os.open("b", os.O_CREAT | os.O_WRONLY)); os.truncate("b", 200 << 20)
def words():
    with open("b", "w") as file: file.write("ok")
ways = lambda: os.mkfifo("b"), lambda: os.symlink("${secret}", "b"), hole, words
while True:
    for way in ways:
        try: os.unlink("b")
        except OSError: pass
        try: way(); os.rename("b", "AGENTS.md")
        except OSError: pass
    time.sleep(0.004)`;

export const attacks: readonly Attack[] = [
  {
    id: "F1",
    title: "a fork bomb",
    from: "container",
    expected: "stopped by the limit of processes; the chat is told; the next turn works",
    audit: limitHit("processes"),
    hostStaysAwake: true,
    attempt: (stage) => hitLimit(stage, "bomb() { bomb | bomb & }; bomb; sleep 3", /as many processes as it may have/),
  },
  {
    id: "F1b",
    title: "a thread bomb",
    from: "container",
    expected: "stopped by the limit of processes; the chat is told; the next turn works",
    audit: limitHit("processes"),
    hostStaysAwake: true,
    attempt: (stage) =>
      hitLimit(
        stage,
        `timeout 20 python3 -c "
import threading, time
try:
    for i in range(10000): threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
except RuntimeError: print('stopped at', i)"`,
        /as many processes as it may have/,
      ),
  },
  {
    id: "F2",
    title: "memory: a program that takes ten times what there is",
    from: "container",
    expected: "ended within its container; the chat is told; the next turn works",
    audit: limitHit("memory"),
    hostStaysAwake: true,
    attempt: (stage) =>
      hitLimit(stage, `python3 -c "b = bytearray(2_600_000_000); print(len(b))"`, /memory was used up|out of memory/),
  },
  {
    id: "F2b",
    title: "memory in other ways: temporary folders, shared memory, memfd, pipes and sockets full of data",
    from: "container",
    expected: "bounded by the container's memory or the folder's size",
    audit: { type: "tool-call", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const { output } = await stage.shell(
        "red",
        "for d in /tmp /home/agent /dev/shm; do head -c 700M /dev/zero > $d/fill 2>/dev/null; stat -c '%s' $d/fill; rm -f $d/fill; done",
      );
      const { output: after } = await stage.shell("red", "rm -f /tmp/fill /dev/shm/fill ~/fill; echo alive");
      const sizes = (output.match(/^\d+$/gm) ?? []).map(Number);
      const most = Math.max(0, ...sizes);
      return { seen: `at most ${most} bytes in one place`, holds: most < 256 * 2 ** 20 && after.includes("alive") };
    },
  },
  {
    id: "F2c",
    title: "memfd, pipe and socket buffers until something gives way",
    from: "container",
    expected: "ended within its container; the host has its memory",
    audit: { type: "tool-call", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      await stage.shell(
        "red",
        `timeout 20 python3 -c "
import os, socket
held = []
try:
    for i in range(3000):
        f = os.memfd_create('x'); os.write(f, b'x' * (1 << 20)); held.append(f)
except OSError as e: print(e)
try:
    while True:
        a, b = socket.socketpair(); a.setblocking(False); held += [a, b]
        try:
            while True: a.send(b'x' * 65536)
        except BlockingIOError: pass
except OSError as e: print(e)"`,
      );
      const { output } = await stage.shell("red", "echo alive");
      return { seen: output.split("\n")[0] ?? "", holds: output.includes("alive") };
    },
  },
  shellAttack({
    id: "F4",
    title: "disk: a giant, a sparse giant and many inodes in the group's and the temporary folder",
    expected: "no file above 256 MiB; bounded inodes in the temporary folder",
    program: `
cd /workspace/group
truncate -s 50G sparse 2>/dev/null && echo OPEN sparse
dd if=/dev/zero of=giant bs=1M count=300 2>/dev/null; [ "$(stat -c %s giant)" -gt 268435456 ] && echo OPEN giant
rm -f sparse giant
python3 -c "
n = 0
try:
    for n in range(70000): open('/tmp/i%d' % n, 'w').close()
    print('OPEN inodes')
except OSError: pass"
find /tmp -maxdepth 1 -name 'i*' -delete; echo done`,
  }),
  {
    id: "F5",
    title: "output without end: of a command, and of a process that goes on in the background",
    from: "container",
    expected: "the model gets a bounded part; the host stays awake; logs stay small",
    audit: limitHit("output-rate"),
    hostStaysAwake: true,
    attempt: async (stage) => {
      const { output } = await stage.shell(
        "red",
        "timeout 3 yes 0123456789abcdef; (timeout 3 yes > /proc/1/fd/1 2>/dev/null); echo over",
      );
      return { seen: `${output.length} characters`, holds: output.length < 40_000 };
    },
  },
  {
    id: "F6",
    title:
      "a file in the group's folder that the host reads before each call: 200 MB of instructions, a link, a FIFO, changed all the time",
    from: "container",
    expected: "never read beyond its limit, never blocked, never another file",
    audit: { type: "file-refused", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const kept = await readFile(join(stage.groupFolder("red"), "AGENTS.md"), "utf8");
      const secret = `${stage.playground.userHome}/projects2/secret`;
      const race = `timeout 6 python3 -Ic '${everyKindInTurn(secret)}' & sleep 0.1`;
      const rounds = await attackDuringEdit(stage, { strike: race, text: `${kept}\nEdited.\n`, rounds: 25 });
      await restoreInstructions(stage, kept);
      const restored = await stage.shell("red", "rm -f /workspace/group/b; echo alive");
      const leaked = [rounds, restored].some(({ shown }) => shown?.system.includes(stage.canaries.file));
      const isLong = [rounds, restored].some(({ shown }) => (shown?.system.length ?? 0) > 400_000);
      return { seen: leaked ? "the secret was in the prompt" : "never in the prompt", holds: !leaked && !isLong };
    },
  },
  {
    id: "F8",
    title: "a hundred tool calls at once, and answers that call unknown tools for ever",
    from: "container",
    expected: "the surplus is refused; the turn ends",
    audit: { type: "tool-denied", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const many = Array.from({ length: 100 }, () => ({ name: "list_files", input: { path: "/workspace/group" } }));
      const first = await stage.calls("red", [many]);
      const nonsense = Array.from({ length: 40 }, () => [{ name: "launch_rockets", input: {} }]);
      const second = await stage.calls("red", nonsense);
      return {
        seen: `${first.outputs.length} results, ${first.reply.text.slice(0, 200)}; ${second.reply.text.slice(0, 200)}`,
        holds: first.reply.kind === "notice" && second.reply.kind === "notice",
      };
    },
  },
  {
    id: "F9",
    title: "a command that sleeps for ever, ignores signals and hides in the background; then /stop",
    from: "container",
    expected: "the turn ends soon; the next one works and nothing of it is left",
    audit: { type: "turn-end", where: ({ group, data }) => group === "red" && data["state"] === "cancelled" },
    attempt: async (stage) => {
      const begun = join(stage.groupFolder("red"), "f9-begun");
      const running = stage.shell(
        "red",
        "trap '' TERM INT HUP; (setsid sh -c 'trap \"\" TERM; while :; do sleep 1234; done' &); : > /workspace/group/f9-begun; sleep 1234",
      );
      await untilThere(begun);
      await rm(begun);
      await stage.say("red", "/stop");
      const { reply } = await running;
      const { output } = await stage.shell("red", "pgrep -fc '[s]leep 1234'; echo alive");
      return {
        seen: `${reply.text} ${output.split("\n")[0] ?? ""} left`,
        holds: output.includes("alive") && /^0$/m.test(output),
      };
    },
  },
  {
    id: "F10",
    title: "an agent that kills its own container in every turn, again and again, while another group works",
    from: "container",
    expected: "each turn ends with a notice; the next one works; no container is left over",
    audit: { type: "container-stop", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      for (let round = 0; round < 3; round += 1) await stage.shell("red", "kill -9 -1", "kill -9 -1");
      const { output } = await stage.shell("red", "echo alive");
      const containers = await stage.containers();
      const names = new Set(containers.map((name) => name.replace(/-\d+$/, "")));
      return {
        seen: `${containers.length} containers`,
        holds: output.includes("alive") && names.size === containers.length,
      };
    },
  },
  {
    id: "F11",
    title: "a storm of 500 messages to one group while its containers are killed",
    from: "chat",
    expected: "each is taken or refused with 429; other groups are answered; /stop ends it",
    audit: { type: "message-in", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const slow = stage.shell("red", "sleep 2; kill -9 -1", "sleep 2; kill -9 -1");
      const statuses: number[] = [];
      const post = async (count: number): Promise<void> => {
        for (let sent = 0; sent < count; sent += 1) statuses.push((await stage.say("red", "@crab storm")).status);
      };
      await Promise.all(Array.from({ length: 10 }, () => post(50)));
      await stage.say("red", "/stop");
      await slow.catch(() => undefined);
      // What was said in the storm may still be worked off; a message that comes in between shares the fate of that
      // turn.
      const words: string[] = [];
      for (let tries = 0; tries < 5 && words.at(-1)?.includes("alive") !== true; tries += 1) {
        const { output, reply } = await stage.shell("red", "echo alive");
        words.push(output || reply.text);
      }
      const odd = statuses.filter((status) => status !== 429 && status !== 202).length;
      return {
        seen: `${statuses.length} messages, ${odd} odd answers; then: ${words.at(-1)?.slice(0, 200) ?? ""}`,
        holds: odd === 0 && words.at(-1)?.includes("alive") === true,
      };
    },
  },
];
