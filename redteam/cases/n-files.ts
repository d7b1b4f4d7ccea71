import { randomUUID } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

import type { AttackCall } from "../suite/model.ts";
import type { Attack } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

const file = { name: "gift.txt", mimeType: "text/plain", data: Buffer.from("a gift").toString("base64") };

async function post(stage: Stage, body: unknown): Promise<number> {
  const headers = { ...stage.authorization, "content-type": "application/json" };
  const options = { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) };
  const answer = await stage.request("/v1/channels/http/messages", options);
  await answer.arrayBuffer();
  return answer.status;
}

/** Sends a file to the attacker's group, as a member would, and waits until its message is answered. */
async function sendFile(stage: Stage): Promise<string> {
  const script = stage.model.prepare({ rounds: [], say: "seen" });
  const id = randomUUID();
  const sender = { id: "mallory", name: "Mallory" };
  await post(stage, { id, group: "red", sender, text: `@crab ${script}`, attachments: [file] });
  await stage.replyWhere((reply) => reply.inReplyTo.includes(id));
  return stage.model.shown(script)?.lastUser ?? "";
}

function sendCalls(count: number, path: string): AttackCall[][] {
  return Array.from({ length: count }, () => [{ name: "send_file", input: { path } }]);
}

/** Contents of all files that were sent in chats so far. */
async function sentContents(stage: Stage): Promise<string[]> {
  const contents: string[] = [];
  for (const { file: sent } of await stage.allReplies()) {
    if (sent !== undefined)
      contents.push(await (await stage.request(sent.href, { headers: stage.authorization })).text());
  }
  return contents;
}

export const attacks: readonly Attack[] = [
  {
    id: "N1",
    title: "the inbox is a link to a folder of the host, a file or a pipe when a member sends a file",
    from: "container",
    expected: "the file comes to a real inbox; nothing is written elsewhere",
    audit: { type: "message-in", where: ({ group, data }) => group === "red" && data["attachments"] === 1 },
    attempt: async (stage) => {
      const target = join(stage.playground.userHome, "loot");
      await mkdir(target, { recursive: true });
      const traps = [`ln -s ${target} inbox`, "echo x > inbox", "mkfifo inbox", "ln -s /mail/to-host inbox"];
      let arrived = 0;
      for (const trap of traps) {
        await stage.shell("red", `cd /workspace/group && rm -rf inbox && ${trap}`);
        if ((await sendFile(stage)).includes("/workspace/group/inbox/")) arrived += 1;
      }
      const written = await readdir(target);
      await stage.shell("red", "cd /workspace/group && rm -rf inbox inbox.moved-*");
      return {
        seen: `${arrived} of ${traps.length} arrived, ${written.length} elsewhere`,
        holds: arrived === traps.length && written.length === 0,
      };
    },
  },
  {
    id: "N2",
    title: "a file that is swapped for a link to a secret of the host between the agent's look and the host's",
    from: "container",
    expected: "only files of the group are ever sent",
    audit: { type: "tool-call", where: ({ group, data }) => group === "red" && data["name"] === "send_file" },
    attempt: async (stage) => {
      const secret = join(stage.playground.userHome, ".ssh/id_ed25519");
      const swapper = `
import ctypes, os, time
os.chdir("/workspace/group"); os.mkdir("swap")
with open("swap/id_ed25519", "w") as file: file.write("mine")
os.symlink("${secret.replace("/id_ed25519", "")}", "link")
libc = ctypes.CDLL(None)
end = time.monotonic() + 300
open("swapping", "w").close()
while os.path.exists("swapping") and time.monotonic() < end:
    # Nothing there, the link, nothing there, the folder; as fast as it goes, then about as fast as the host looks.
    for pause, rounds in ((0, 200), (0.0005, 5)):
        for times in range(rounds):
            for old, new in (("swap", "real"), ("link", "swap"), ("swap", "link"), ("real", "swap")):
                os.rename(old, new)
                if pause: time.sleep(pause)
    for times in range(10): libc.renameat2(-100, b"swap", -100, b"link", 2); time.sleep(0.0005)`;
      const start = `cd /tmp && cat > swapper.py <<'REDTEAM'\n${swapper}\nREDTEAM
(python3 -I swapper.py >/dev/null 2>&1 &); until [ -e /workspace/group/swapping ]; do sleep 0.05; done; echo started`;
      await stage.calls("red", [
        [{ name: "shell", input: { command: start } }],
        ...sendCalls(18, "/workspace/group/swap/id_ed25519"),
        [
          {
            name: "shell",
            input: { command: "cd /workspace/group && rm -rf swapping; sleep 0.1; rm -rf swap link real" },
          },
        ],
      ]);
      const contents = await sentContents(stage);
      const stolen = contents.filter((content) => content.includes(stage.canaries.file)).length;
      return { seen: `${contents.length} files sent, ${stolen} of the host's`, holds: stolen === 0 };
    },
  },
  {
    id: "N3",
    title: "pipes, devices, folders, huge files and paths that lead out, as files to be sent",
    from: "container",
    expected: "refused, each with a reason; the host waits for none of them",
    audit: { type: "tool-call", where: ({ group, data }) => group === "red" && data["name"] === "send_file" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const make =
        "cd /workspace/group && mkfifo n3-pipe; mkdir -p n3-folder; truncate -s 200M n3-huge; ln -s /dev/zero n3-zero; echo made";
      const paths = [
        "n3-pipe",
        "n3-folder",
        "n3-huge",
        "n3-zero",
        "../../etc/passwd",
        "/proc/self/environ",
        "/mail/to-host",
      ];
      const { outputs } = await stage.calls("red", [
        [{ name: "shell", input: { command: make } }],
        ...paths.map((path) => [{ name: "send_file", input: { path } }]),
      ]);
      await stage.shell("red", "cd /workspace/group && rm -rf n3-*");
      const sent = outputs.slice(1).filter((output) => output.startsWith("Sent "));
      return {
        seen: `${sent.length} of ${paths.length} sent`,
        holds: sent.length === 0 && outputs.length === paths.length + 1,
      };
    },
  },
  {
    id: "N4",
    title: "messages with files that are too large, too many, no base64, or made of millions of small values",
    from: "program",
    expected: "refused with 4xx or told to the agent; the host stays awake",
    audit: { type: "http-refused", where: ({ data }) => data["status"] === 413 },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const message = { id: randomUUID(), group: "blue", sender: { id: "m", name: "M" }, text: "files" };
      const bodies = [
        { ...message, attachments: [{ ...file, data: "A".repeat(20_000_000) }] },
        { ...message, attachments: Array.from({ length: 17 }, () => file) },
        `{"attachments":[${"{},".repeat(4_000_000)}{}]}`,
        "[".repeat(15_000_000),
        { ...message, attachments: [{ ...file, data: "?".repeat(1_000) }] },
      ];
      const statuses: number[] = [];
      for (const body of bodies) statuses.push(await post(stage, body));
      return { seen: statuses.join(" "), holds: statuses.join(" ") === "413 400 413 413 202" };
    },
  },
];
