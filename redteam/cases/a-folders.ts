import { lstat, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

/** Owner and mode of the file that the links lead to. */
async function secretFacts(stage: Stage): Promise<string> {
  const { uid, gid, mode, size } = await lstat(join(stage.playground.userHome, ".ssh/id_ed25519"));
  return `${uid}:${gid} ${mode.toString(8)} ${size}`;
}

export const attacks: readonly Attack[] = [
  {
    id: "A15",
    title:
      "a group's folder full of traps: three thousand levels, giant names, FIFOs, sockets, holes, names with line breaks",
    from: "container",
    expected: "measured without following or blocking; the next container starts",
    audit: { type: "container-attested", where: ({ group }) => group === "red" },
    hostStaysAwake: true,
    attempt: async (stage) => {
      const program = `
import os, socket
os.chdir("/workspace/group"); os.mkdir("traps"); os.chdir("traps")
os.mkfifo("fifo"); socket.socket(socket.AF_UNIX).bind("socket"); os.symlink("/", "root"); os.symlink(".", "loop")
for name in (b"x" * 255, b"a\\nb", b"\\x1b[2J", b"\\xff\\xfe", b"--help", b"-rf", b"\\xe2\\x80\\xae"): os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
with open("hole", "wb") as f: f.truncate(200 << 20)
for level in range(3000): os.mkdir("d" * 20); os.chdir("d" * 20)
print("built")`;
      const built = await stage.shell("red", `python3 - <<'REDTEAM'\n${program}\nREDTEAM`);
      await stage.stopContainers("red");
      const { output } = await stage.shell("red", "echo alive; rm -rf /workspace/group/traps; ls /workspace/group");
      const holds = built.output.includes("built") && output.includes("alive") && !output.includes("traps");
      return { seen: `${built.output.split("\n")[0] ?? ""}, ${output.replaceAll(/\s+/g, " ")}`, holds };
    },
  },
  {
    id: "A16",
    title: "links in a group's folder to secrets of the host, while the folder is handed over to the next container",
    from: "container",
    expected: "the secret keeps its owner, its mode and its content",
    audit: { type: "container-attested", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      const before = await secretFacts(stage);
      const secret = join(stage.playground.userHome, ".ssh");
      await stage.shell(
        "red",
        `cd /workspace/group; ln -s ${secret} keys; ln -s ${secret}/id_ed25519 key; echo x >> key; chmod 777 key`,
      );
      await stage.stopContainers("red");
      const { output } = await stage.shell(
        "red",
        "cat /workspace/group/key /workspace/group/keys/id_ed25519 2>&1; rm -f key keys /workspace/group/key /workspace/group/keys; echo looked",
      );
      const after = await secretFacts(stage);
      const leaked = output.includes(stage.canaries.file);
      return { seen: `${before} → ${after}`, holds: before === after && !leaked && output.includes("looked") };
    },
  },
  {
    id: "A17",
    title: "a group's own folder is exchanged for a link to a secret one before its next container starts",
    from: "program",
    expected:
      "no container is started with it, the chat is told without a path of the host; with the folder back, it works",
    audit: { type: "turn-end", where: ({ group, data }) => group === "red" && data["state"] !== "done" },
    attempt: async (stage) => {
      const folder = stage.groupFolder("red");
      await stage.stopContainers("red");
      await rename(folder, `${folder}.kept`);
      await symlink(join(stage.playground.userHome, ".ssh"), folder);
      let refused: string;
      try {
        const { output, reply } = await stage.shell("red", "cat /workspace/group/id_ed25519");
        refused = output || reply.text;
      } finally {
        await rm(folder);
        await rename(`${folder}.kept`, folder);
      }
      const { output } = await stage.shell("red", "echo alive");
      const told = [stage.canaries.file, stage.playground.userHome].filter((word) => refused.includes(word));
      return { seen: refused.slice(0, 200), holds: told.length === 0 && output.includes("alive") };
    },
  },
];
