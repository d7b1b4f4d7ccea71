import { chown, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

const owner = 1234;
const secret = "canary-of-a-covered-file";
const files = ["vault/.env", "vault/server.pem", "vault/.npmrc", "vault/deep/credentials.json"];

/** Stages whose mount has the secrets, from the start of the container on. */
const prepared = new WeakSet<Stage>();

/** Secrets of the operator's in a mount, and a new container that was started with them. */
async function prepare(stage: Stage): Promise<void> {
  if (prepared.has(stage)) return;
  const root = join(stage.playground.userHome, "projects/app");
  await mkdir(join(root, "vault"), { recursive: true });
  await writeFile(join(root, "vault/readme"), "this is no secret\n");
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), `${secret}\n`);
  }
  if (process.geteuid?.() === 0)
    for (const path of ["vault", "vault/deep", ...files]) await chown(join(root, path), owner, owner);
  await stage.stopContainers("mounts");
  prepared.add(stage);
}

/** A reader of files. `done` has to be printed, so that the attack has run to its end. */
function reader(id: string, title: string, commands: readonly string[]): Attack {
  return {
    id,
    title: `read secrets that a mount covers: ${title}`,
    from: "container",
    expected: "nothing of them is there",
    audit: { type: "tool-result", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      await prepare(stage);
      const script = `(${commands.join("\n")}) 2>&1 | head -c 20000; echo looked`;
      const { output } = await stage.shell("mounts", `cd /workspace/extra/app/vault && cat readme\n${script}`);
      const encoded = Buffer.from(secret).toString("base64").slice(0, 24);
      const isRead = output.includes(secret) || output.includes(encoded);
      return {
        seen: isRead ? "READ" : "nothing",
        holds: !isRead && output.includes("looked") && output.includes("this is no secret"),
      };
    },
  };
}

export const attacks: readonly Attack[] = [
  reader("A60", "by name, in loops, by patterns, through variables, links and other spellings", [
    "x=.env",
    'cat $x .e* ./.env "$PWD"/.e*',
    'for f in .[a-z]* *; do cat "$f"; done',
    "cat {.env,server.pem} < .env",
    "ln -s .env l",
    "cat l",
    "ln .env h",
    "cat h",
    "cat /workspace/extra/../extra/app/vault/.env",
    "rm -f l h",
  ]),
  reader("A61", "by searching everything below", [
    "grep -r . .",
    "rg -uu canary",
    "find . -type f -exec cat {} +",
    "find / -xdev -name .env -exec cat {} +",
    "git grep --no-index canary",
    "ls -A | xargs cat",
    "xargs -a .env echo",
  ]),
  reader("A62", "by programs that show a file in passing", [
    "date -f .env",
    "file -f .env",
    "sort .env",
    "uniq .env",
    "od -c server.pem",
    "base64 .env",
    "diff .env /dev/null",
    "awk 1 .npmrc",
    "sed '' .npmrc",
    "jq . deep/credentials.json",
    "paste .env",
    "dd if=.env",
    "xxd .env",
    "strings .env",
    "tac .env",
    "nl .env",
  ]),
  reader("A63", "by copies: archives, moves, hard links, and the folder above by another name", [
    "tar c . | tar xO",
    "cp -a . /tmp/copied",
    "cat /tmp/copied/.env",
    "mv .env /tmp/moved",
    "cat /tmp/moved",
    "cd ..",
    "mv vault vault2 && cat vault2/.env",
    "mv vault2 vault",
    "ln vault/.env got",
    "cat got",
    "rm -f got",
    "git diff --no-index /dev/null vault/.env",
  ]),
  reader("A64", "by removing, replacing and mounting over what covers them", [
    "rm -rf .env deep",
    "umount .env",
    "chmod 777 .env",
    "truncate -s0 .env",
    "touch n",
    "mv n .env",
    "unshare -rm umount .env",
    "cat .env",
    "ls -la",
  ]),
  reader("A65", "by descriptors, handles and maps of Python", [
    `python3 - <<'X'
import ctypes, glob, mmap, os
for path in glob.glob("**", recursive=True, include_hidden=True):
    for flags in (os.O_RDONLY, os.O_RDWR, os.O_PATH):
        try:
            fd = os.open(path, flags)
            way = f"/proc/self/fd/{fd}"
            print(os.readlink(way), open(way).read() if flags == os.O_PATH else os.read(fd, 99))
        except (OSError, ValueError) as error: pass
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(428, -100, b".env", 1), libc.syscall(304, -100, b"x", 0))
for line in open("/proc/self/mountinfo"):
    if "vault" in line: print(line.split()[3])
X
cat /proc/*/root/workspace/extra/app/vault/.env`,
  ]),
  reader("A66", "by tools of the image that read files by themselves", [
    "curl -sS file://$PWD/.env",
    "openssl x509 -in server.pem",
    'node -e \'console.log(require("fs").readFileSync(".env","utf8"))\'',
    "git config -l -f .npmrc",
    "python3 -c 'print(open(\".npmrc\").read())'",
    "bash -c '. ./.env'",
    "source .env",
    "npm config list --userconfig .npmrc",
  ]),
  {
    id: "A67",
    title: "read secrets that a mount covers: by the tools for files, which ask nobody",
    from: "container",
    expected: "nothing of them is there",
    audit: { type: "tool-result", where: ({ group }) => group === "mounts" },
    attempt: async (stage) => {
      await prepare(stage);
      const place = "/workspace/extra/app/vault";
      const { outputs } = await stage.calls("mounts", [
        [{ name: "search_files", input: { pattern: "canary", path: place } }],
        [{ name: "list_files", input: { path: place } }],
        [{ name: "view_image", input: { path: `${place}/.env` } }],
        [{ name: "send_file", input: { path: `${place}/.env` } }],
        [{ name: "read_file", input: { path: `${place}/./.env` } }],
        [{ name: "read_file", input: { path: `${place}/deep/../server.pem` } }],
      ]);
      await rm(join(stage.playground.userHome, "projects/app/vault"), { recursive: true, force: true });
      await stage.stopContainers("mounts");
      const isRead = outputs.slice(0, 4).join().includes(secret);
      return {
        seen: `${outputs.length} calls, ${isRead ? "READ" : "nothing"}`,
        holds: !isRead && outputs.length === 6,
      };
    },
  },
];
