import { chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Attack, Evidence } from "../suite/attack.ts";
import { allRefused } from "../suite/programs.ts";
import type { Stage } from "../suite/stage.ts";

/** The folder that the group `mounts` may write in, in the container and on the host. */
const inside = "/workspace/extra/app";
const owner = 1234;

function onHost(stage: Stage, path: string): string {
  return join(stage.playground.userHome, "projects/app", path);
}

/** Files of the host's user in the mount, and the folders that they need. */
async function put(stage: Stage, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = onHost(stage, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  await giveAll(onHost(stage, "."), Object.keys(files));
}

async function giveAll(root: string, paths: readonly string[]): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  for (const path of paths) {
    const names = path.split("/");
    for (let depth = 1; depth <= names.length; depth += 1) {
      await chown(join(root, ...names.slice(0, depth)), owner, owner);
    }
  }
}

/** Entries that attacks leave in the mount. */
const made = ".git old sub bare .husky .vscode .idea .cursor .claude .github .devcontainer.json .envrc .npmrc".split(
  " ",
);

/** A repository in the mount, and a new container that was judged with it. */
async function withRepository(stage: Stage, attack: () => Promise<Evidence>): Promise<Evidence> {
  await put(stage, {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n",
    ".git/hooks/pre-commit": "true\n",
  });
  await stage.stopContainers("mounts");
  try {
    return await attack();
  } finally {
    await stage.stopContainers("mounts");
    for (const name of made) {
      await rm(onHost(stage, name), { recursive: true, force: true });
    }
  }
}

/** On a busy machine a look takes longer than half a second; what it has found then counts for so long. */
const lookCountsMs = 3_000;

/** Whether a turn in a container that was there before reaches what appears in the mount. */
async function reaches(
  stage: Stage,
  path: string,
  appear: () => Promise<() => Promise<unknown>>,
  waitMs = 0,
): Promise<boolean> {
  await stage.shell("mounts", "true");
  const remove = await appear();
  await delay(waitMs);
  const { output } = await stage.shell("mounts", `cat ${inside}/${path} 2>&1; ls /workspace/extra`);
  await remove();
  await stage.stopContainers("mounts");
  const isThere = output.includes("a secret") || /^app$/m.test(output);
  return isThere && (waitMs > 0 || (await reaches(stage, path, appear, lookCountsMs)));
}

export const attacks: readonly Attack[] = [
  {
    id: "A19",
    title: "credentials and sockets that appear in a mount between two turns of a hot container",
    from: "program",
    expected: "the container is ended before it can read them, and the group gets no mount while they are there",
    audit: { type: "mount-verdict", where: ({ data }) => String(data["refused"]).includes("refused from now on") },
    attempt: async (stage) => {
      const seen: string[] = [];
      for (const path of [".ssh/id_ed25519", "deep/down/.AWS/credentials", ".config/gh/hosts.yml", ".netrc"]) {
        const isReached = await reaches(stage, path, async () => {
          await put(stage, { [path]: "a secret" });
          return () => rm(onHost(stage, path.split("/")[0] ?? ""), { recursive: true });
        });
        if (isReached) seen.push(path);
      }
      const isReached = await reaches(stage, "agent.sock", async () => {
        const server = createServer().listen(onHost(stage, "agent.sock"));
        await once(server, "listening");
        return async () => {
          server.close();
          await once(server, "close");
        };
      });
      if (isReached) seen.push("socket");
      return { seen: seen.join(", ") || "none was reached", holds: seen.length === 0 };
    },
  },
  {
    id: "A20",
    title:
      "repositories and folders of tools in a writable mount: written, replaced, linked, renamed, removed, made anew",
    from: "container",
    expected: "each is refused; the files on the host are as they were",
    audit: { type: "tool-call", where: ({ group }) => group === "mounts" },
    attempt: (stage) =>
      withRepository(stage, async () => {
        const kept = [
          "bare/config",
          "bare/hooks/post-checkout",
          "sub/.VSCode/tasks.json",
          ".cursor/mcp.json",
          ".claude/settings.json",
          ".idea/x.xml",
          ".devcontainer.json",
          ".husky/pre-push",
          ".github/workflows/ci.yml",
        ];
        await put(
          stage,
          Object.fromEntries([...kept, "bare/HEAD", "bare/objects/x", "bare/refs/x"].map((path) => [path, path])),
        );
        await stage.stopContainers("mounts");
        const all = [".git/config", ".git/hooks/pre-commit", ...kept];
        const program = `
import ctypes, errno, os
os.chdir("${inside}"); libc = ctypes.CDLL(None, use_errno=True)
open("own", "w").close(); os.makedirs("ownfolder", exist_ok=True)
def swapped(a, b):
    if libc.syscall(316, -100, a.encode(), -100, b.encode(), 2) < 0: raise OSError(ctypes.get_errno(), "x")
def attempt(name, action):
    try: action(); print("OPEN", name)
    except OSError as error: print("refused", name, errno.errorcode.get(error.errno))
for path in ${JSON.stringify(all)}:
    folder = os.path.dirname(path)
    attempt("write " + path, lambda: open(path, "a")); attempt("truncate " + path, lambda: os.truncate(path, 0))
    attempt("chmod " + path, lambda: os.chmod(path, 0o755)); attempt("over " + path, lambda: os.rename("own", path))
    attempt("away " + path, lambda: os.rename(path, "x")); attempt("unlink " + path, lambda: os.unlink(path))
    attempt("exchange " + path, lambda: swapped("own", path)); attempt("link " + path, lambda: os.link(path, "x"))
    attempt("xattr " + path, lambda: os.setxattr(path, "user.x", b"x"))
    attempt("proc " + path, lambda: open("/proc/self/fd/%d" % os.open(path, os.O_RDONLY), "a"))
    attempt("utime " + path, lambda: os.utime(path, (0, 0)))
    # A folder around a protected one may be moved; that shows, and the next turn protects what is there then.
    if folder in ("", "sub", ".github"): continue
    attempt("new in " + folder, lambda: open(folder + "/new", "w"))
    attempt("symlink in " + folder, lambda: os.symlink("/tmp", folder + "/x"))
    attempt("folder away " + folder, lambda: os.rename(folder, "x"))
    attempt("folder exchanged " + folder, lambda: swapped("ownfolder", folder))
os.unlink("own"); os.rmdir("ownfolder"); print("done")`;
        const { output } = await stage.shell("mounts", `python3 - <<'X'\n${program}\nX`);
        const texts = await Promise.all(all.map((path) => readFile(onHost(stage, path), "utf8")));
        const evidence = allRefused(output);
        const holds = texts.join(" ") === ["[core]\n", "true\n", ...kept].join(" ");
        return { ...evidence, holds: evidence.holds && holds };
      }),
  },
  {
    id: "A21",
    title: "a folder with a protected repository is moved away, and another repository with hooks takes its place",
    from: "container",
    expected: "it is on record, and the next turn cannot write there",
    audit: {
      type: "execution-point",
      where: ({ data }) => data["path"] === "sub/.git" && data["change"] === "changed",
    },
    attempt: (stage) =>
      withRepository(stage, async () => {
        await put(stage, { "sub/.git/HEAD": "ref: refs/heads/main\n" });
        await stage.stopContainers("mounts");
        await stage.shell("mounts", "true");
        await stage.shell(
          "mounts",
          `cd ${inside} && mv sub old && mkdir -p sub/.git/hooks && echo evil > sub/.git/hooks/pre-commit`,
        );
        const { output } = await stage.shell("mounts", `(echo more >> ${inside}/sub/.git/hooks/pre-commit) 2>&1`);
        return { seen: output.slice(0, 200), holds: output.includes("Read-only file system") };
      }),
  },
  {
    id: "A22",
    title:
      "what else runs on the host automatically: husky, direnv, npm, editors, a .git file, hooks of a nested repository",
    from: "container",
    expected: "each is on record with its path",
    audit: { type: "execution-point", where: ({ data }) => data["path"] === "sub/.git/hooks/post-checkout" },
    attempt: (stage) =>
      withRepository(stage, async () => {
        const planted = [
          ".envrc",
          ".npmrc",
          ".husky/pre-push",
          ".vscode/tasks.json",
          ".idea/workspace.xml",
          "sub/.git/hooks/post-checkout",
          "sub/inner/.git",
        ];
        const { seq } = (await stage.recordsAfter(0)).at(-1) ?? { seq: 0 };
        await stage.shell(
          "mounts",
          planted.map((path) => `mkdir -p ${inside}/$(dirname ${path}); echo evil > ${inside}/${path}`).join("\n"),
        );
        // A look comes before each turn.
        await stage.shell("mounts", "true");
        const told = (await stage.recordsAfter(seq)).filter(({ type }) => type === "execution-point");
        const missing = planted.filter((path) => !told.some(({ data }) => data["path"] === path));
        return { seen: missing.join(", ") || `${told.length} on record`, holds: missing.length === 0 };
      }),
  },
  {
    id: "A23",
    title: "a granted folder comes and goes while containers are started",
    from: "program",
    expected: "a start that fails says that the folder has changed, in words of the host's own",
    audit: { type: "mount-verdict", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      const place = join(stage.playground.userHome, "projects/app");
      const over = new AbortController();
      const swapping = comeAndGo(place, over.signal);
      const unclear: string[] = [];
      try {
        for (let round = 0; round < 12; round += 1) {
          await stage.stopContainers("mounts");
          const { output, reply } = await stage.shell("mounts", "echo looked");
          const isClear =
            output.includes("looked") ||
            /has changed|was replaced|judged|moved or replaced|is wrong with how I am set up/.test(reply.text);
          if (!isClear) unclear.push(reply.text.slice(0, 200));
        }
      } finally {
        over.abort();
        await swapping;
        await stage.stopContainers("mounts");
      }
      return { seen: unclear.join("; ") || "each start worked or said why not", holds: unclear.length === 0 };
    },
  },
];

/** Long enough here to be judged, long enough away for the engine to look in vain. */
const swapMs = 40;

async function comeAndGo(place: string, signal: AbortSignal): Promise<void> {
  const away = `${place}.away`;
  while (!signal.aborted) {
    await delay(swapMs);
    await rename(place, away);
    await delay(swapMs);
    await rename(away, place);
  }
}
