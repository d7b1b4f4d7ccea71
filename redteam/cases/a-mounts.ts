import { chmod, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Attack, Evidence } from "../suite/attack.ts";
import { engineVariables, openPlayground, writeHome } from "../suite/host.ts";
import { stageMounts } from "../suite/stage-mounts.ts";
import type { Stage } from "../suite/stage.ts";

interface ToldVerdict {
  readonly target: string;
  readonly verdict: string;
  readonly reason: string;
}

const verdictRecorded: Attack["audit"] = { type: "mount-verdict", where: ({ group }) => group === "mounts" };

/** Ends the group's container, so that the next message has its mounts judged anew. */
async function judgeAnew(stage: Stage): Promise<void> {
  await stage.stopContainers("mounts");
}

function told(output: string): ToldVerdict[] {
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as ToldVerdict);
}

/** Verdicts of `crabpot mounts check` in a separate home with this allowlist. */
async function checkWith(stage: Stage, prepare: (home: string, userHome: string) => Promise<void>): Promise<Evidence> {
  await using playground = await openPlayground(
    engineVariables(stage.playground.environment),
    stage.playground.userHome,
  );
  const { home, userHome, environment } = playground;
  const source = join(userHome, "projects/app");
  await mkdir(source, { recursive: true });
  const group = { channel: "terminal", chat: "main", mounts: [{ source, target: "app", access: "rw" }] };
  await writeHome(home, { config: { channels: { terminal: {} }, groups: { main: group } } });
  await prepare(home, userHome);
  const { code, output } = await stage.commands.run(environment, ["mounts", "check", "main", "--json"]);
  const [verdict] = told(output);
  return {
    seen: verdict ? `${verdict.verdict}: ${verdict.reason}` : output.trim(),
    holds: code !== 0 && verdict?.verdict !== "rw",
  };
}

function allowlist(userHome: string): string {
  return JSON.stringify({ roots: [{ path: join(userHome, "projects"), access: "rw" }] });
}

const spoilt: readonly (readonly [string, (home: string, userHome: string) => Promise<void>])[] = [
  ["missing", async () => undefined],
  ["empty", (home) => writeHome(home, { mounts: "" })],
  ["broken", (home) => writeHome(home, { mounts: '{"roots": [' })],
  ["no object", (home) => writeHome(home, { mounts: "[]" })],
  ["unknown key", (home, user) => writeHome(home, { mounts: allowlist(user).replace("}]", ',"force":true}]') })],
  ["access true", (home, user) => writeHome(home, { mounts: allowlist(user).replace('"rw"', "true") })],
  [
    "writable by others",
    async (home, user) => {
      await writeHome(home, { mounts: allowlist(user) });
      await chmod(join(home, "mounts.json"), 0o666);
    },
  ],
  [
    "a link",
    async (home, user) => {
      await writeFile(join(user, "elsewhere.json"), allowlist(user), { mode: 0o666 });
      await symlink(join(user, "elsewhere.json"), join(home, "mounts.json"));
    },
  ],
  [
    "a folder",
    async (home) => {
      await mkdir(join(home, "mounts.json"));
    },
  ],
];

/** Everything below a folder: kind, bits, and content or target. */
async function treeOf(folder: string): Promise<string> {
  const lines: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode } = await lstat(path);
    const text = entry.isFile() ? await readFile(path, "latin1") : entry.isSymbolicLink() ? await readlink(path) : "";
    lines.push(`${path.slice(folder.length + 1)} ${mode.toString(8)} ${text}`);
  }
  return lines.toSorted().join("\n");
}

/** Ends the group's container and gives the agent the reviewed folder as it is. */
async function discardReviewed(stage: Stage): Promise<void> {
  await judgeAnew(stage);
  await stage.command("mounts", "discard", "mounts", "reviewed", "--yes");
}

export const attacks: readonly Attack[] = [
  {
    id: "A1",
    title: "an allowlist that is missing, empty, broken, writable by others, a link, a folder, of wrong types",
    from: "program",
    expected: "nothing is granted, with a reason",
    audit: { none: "nothing is started: the verdicts of `crabpot mounts check` are the evidence" },
    attempt: async (stage) => {
      const found = await Promise.all(
        spoilt.map(async ([name, prepare]) => ({ name, ...(await checkWith(stage, prepare)) })),
      );
      const granted = found.filter(({ holds }) => !holds).map(({ name, seen }) => `${name}: ${seen}`);
      return { seen: granted.join("; ") || `${found.length} refused`, holds: granted.length === 0 };
    },
  },
  {
    id: "A2",
    title:
      "thirty mounts: parents and children of blocked folders, links, siblings, devices, sockets, odd targets, twice the same",
    from: "program",
    expected: "each gets exactly its verdict, in words too, and the honest ones among them are granted",
    audit: verdictRecorded,
    attempt: async (stage) => {
      await judgeAnew(stage);
      await stage.ask("mounts", "@crab hello");
      const verdicts = told((await stage.command("mounts", "check", "mounts", "--json")).output);
      const wrong = stageMounts(stage.playground.userHome).flatMap(({ source, target, verdict }, index) => {
        const got = verdicts[index];
        return got?.verdict === verdict && got.reason !== ""
          ? []
          : [`${source} at ${target}: ${got?.verdict ?? "nothing"}`];
      });
      return { seen: wrong.join("; ") || `${verdicts.length} verdicts`, holds: wrong.length === 0 };
    },
  },
  {
    id: "A3",
    title: "what is really in the container after those requests",
    from: "container",
    expected: "the six granted folders and nothing else; read-only ones cannot be written",
    audit: { type: "tool-call", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      const { output } = await stage.shell(
        "mounts",
        "ls -A /workspace/extra | sort | tr '\\n' ' '; for d in docs guide hidden my.environment; do touch /workspace/extra/$d/x 2>/dev/null && echo OPEN $d; done; touch /workspace/extra/app/x && echo written",
      );
      const names = "app docs guide hidden my.environment reviewed";
      const isOwnUser = process.geteuid?.() === 0;
      const holds = output.includes(names) && !output.includes("OPEN") && (output.includes("written") || !isOwnUser);
      return { seen: output.replaceAll(/\s+/g, " "), holds };
    },
  },
  {
    id: "A9",
    title: "a granted folder is exchanged for a link to a secret one, before the next container starts",
    from: "program",
    expected: "refused by its real path",
    audit: { type: "mount-verdict", where: ({ data }) => JSON.stringify(data).includes("denied") },
    attempt: async (stage) => {
      const place = join(stage.playground.userHome, "projects/my.environment");
      await rm(place, { recursive: true });
      await symlink(join(stage.playground.userHome, ".ssh"), place);
      try {
        await judgeAnew(stage);
        const { output } = await stage.shell("mounts", "ls -A /workspace/extra; cat /workspace/extra/*/id_ed25519");
        return {
          seen: output.slice(0, 300),
          holds: !output.includes(stage.canaries.file) && !/my\.environment/.test(output),
        };
      } finally {
        await rm(place);
        await mkdir(place);
      }
    },
  },
  {
    id: "A13",
    title: "a race: a granted folder and a link to a secret one change places all the time while containers start",
    from: "program",
    expected: "the secret is never seen; a container with the wrong folder is refused",
    audit: { type: "mount-verdict", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      const place = join(stage.playground.userHome, "projects/my.environment");
      const over = new AbortController();
      // As fast as it goes and about as fast as a look at it: a start lasts long enough for either.
      const swap = async (): Promise<void> => {
        for (let round = 0; !over.signal.aborted; round += 1) {
          const pause = async (): Promise<void> => (round % 8 < 4 ? undefined : delay(2));
          await rm(place, { recursive: true, force: true });
          await symlink(join(stage.playground.userHome, ".ssh"), place);
          await pause();
          await rm(place);
          await mkdir(place);
          await pause();
        }
      };
      const swapping = swap();
      const seen: string[] = [];
      try {
        for (let round = 0; round < 4; round += 1) {
          await judgeAnew(stage);
          const { output, reply } = await stage.shell("mounts", "cat /workspace/extra/*/id_ed25519 2>&1; echo looked");
          seen.push(output || reply.text);
        }
      } finally {
        over.abort();
        await swapping;
      }
      const leaked = seen.filter((text) => text.includes(stage.canaries.file)).length;
      return { seen: `${leaked} of ${seen.length} containers saw it`, holds: leaked === 0 };
    },
  },
  {
    id: "A31",
    title: "the agent destroys, replaces, links and renames everything in a folder with review",
    from: "container",
    expected: "the real folder stays as it is, byte for byte",
    audit: { type: "tool-call", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      const folder = join(stage.playground.userHome, "projects/reviewed");
      const before = await treeOf(folder);
      const { output } = await stage.shell(
        "mounts",
        [
          "cd /workspace/extra/reviewed; echo x > file; rm -rf kept; mkdir kept; echo y > kept/inner; mv file moved",
          "ln -s /etc file; chmod 777 . moved; truncate -s 9 moved",
          "python3 -c \"import mmap; f = open('moved', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'Z'\"",
          "mknod whiteout c 0 0 2>&1; ls -A",
        ].join("; "),
      );
      const after = await treeOf(folder);
      await discardReviewed(stage);
      return {
        seen: output.replaceAll(/\s+/g, " ").slice(0, 200),
        holds: after === before && output.includes("moved"),
      };
    },
  },
  {
    id: "A32",
    title:
      "what an agent left in a folder with review leads out of it, is no file, or has a hostile name, and is applied",
    from: "container",
    expected: "only ordinary files, folders and links that stay inside get into the real folder",
    audit: { type: "tool-call", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      const folder = join(stage.playground.userHome, "projects/reviewed");
      await stage.shell(
        "mounts",
        [
          "cd /workspace/extra/reviewed; ln -s /etc absolute; ln -s ../../.ssh outside; ln -s kept/../../../.ssh bent",
          "ln -s inside chain; ln -s chain/../.. through; mkfifo fifo; ln file hard; mkdir inside",
          "printf a > \"$(printf 'new\\nline')\"; printf b > \"$(printf '\\377')\"",
          "printf c > \"$(printf 'a\\342\\200\\256b')\"; echo good > inside/good; echo run > run",
          "chmod 6777 run; chmod 1777 inside",
          "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
        ].join("; "),
      );
      await judgeAnew(stage);
      const { output } = await stage.command("mounts", "apply", "mounts", "reviewed");
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const odd = found.filter((entry) => !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink());
      const names = found.map(({ name }) => name);
      const modes = await Promise.all(
        found.map(async (entry) => (await lstat(join(entry.parentPath, entry.name))).mode),
      );
      const isOut = ["absolute", "outside", "bent", "through"].some((name) => names.includes(name));
      const isPlain = names.every((name) => /^[\w.-]+$/.test(name)) && modes.every((mode) => (mode & 0o7000) === 0);
      await discardReviewed(stage);
      const wanted = names.includes("good") && names.includes("hard") && names.includes("run");
      return {
        seen: `${names.join(" ")} (${output.slice(0, 80)})`,
        holds: odd.length === 0 && !isOut && isPlain && wanted,
      };
    },
  },
  {
    id: "A33",
    title: "a race: a folder and a link to a secret one change places while an agent's changes are applied",
    from: "program",
    expected: "nothing is written through the link",
    audit: { type: "tool-call", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      const { userHome } = stage.playground;
      const [place, aside] = [join(userHome, "projects/reviewed/kept"), join(userHome, "projects/aside")];
      const secret = join(userHome, ".ssh");
      const before = await treeOf(secret);
      const over = new AbortController();
      const swap = async (): Promise<void> => {
        while (!over.signal.aborted) {
          await rename(place, aside);
          await symlink(secret, place);
          await delay(1);
          await rm(place);
          await rename(aside, place);
          await delay(1);
        }
      };
      await stage.shell("mounts", "cd /workspace/extra/reviewed/kept; for n in $(seq 40); do echo planted > p$n; done");
      await judgeAnew(stage);
      const swapping = swap();
      try {
        for (let round = 0; round < 3; round += 1) await stage.command("mounts", "apply", "mounts", "reviewed");
      } finally {
        over.abort();
        await swapping;
      }
      const after = await treeOf(secret);
      await discardReviewed(stage);
      return { seen: after === before ? "the secret folder is as it was" : "changed", holds: after === before };
    },
  },
  {
    id: "A12",
    title: "the agent writes configuration and an allowlist into its own folder, then a new container is made",
    from: "container",
    expected: "nothing of it is read: no further mount",
    audit: { type: "container-attested", where: ({ group }) => group === "red" },
    attempt: async (stage) => {
      await stage.shell(
        "red",
        'cd /workspace/group; mkdir -p .crabpot; for p in . .crabpot; do echo \'{"roots":[{"path":"/","access":"rw"}]}\' > $p/mounts.json; echo \'groups: { red: { mounts: [{ source: /etc, target: etc }] } }\' > $p/config.yaml; done',
      );
      await stage.stopContainers("red");
      const { output } = await stage.shell(
        "red",
        "ls /workspace/extra 2>&1; rm -rf /workspace/group/.crabpot /workspace/group/*.json /workspace/group/*.yaml; grep -c /workspace/extra /proc/self/mountinfo",
      );
      return { seen: output.replaceAll(/\s+/g, " "), holds: /^0$/m.test(output) };
    },
  },
];
