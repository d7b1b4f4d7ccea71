import { chown, link, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { Attack, Evidence } from "../suite/attack.ts";
import type { Stage } from "../suite/stage.ts";

/** Said by every secret, and by nothing else. */
const secret = "the-mounted-secret";
const owner = 1234;

/** Mounts of the group `mounts`: written at once, and with review. */
const mounts = ["app", "reviewed"] as const;

const secrets = [
  ".env",
  ".ENV.LOCAL",
  "deep/Server.PEM",
  "deep/er/credentials.json",
  "server.key",
  "values/real",
  ".npmrc",
];

/** Puts secrets into both mounts, with other names that lead to them, and has a new container made. */
async function withSecrets(stage: Stage, attack: () => Promise<Evidence>): Promise<Evidence> {
  const roots = mounts.map((name) => join(stage.playground.userHome, "projects", name));
  for (const root of roots) {
    for (const path of secrets) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), `${secret}\n`);
    }
    await link(join(root, "server.key"), join(root, "deep/innocent.txt"));
    await symlink("values/real", join(root, "linked.pem"));
    if (process.geteuid?.() === 0) for (const name of ["deep", "values"]) await chown(join(root, name), owner, owner);
  }
  await stage.stopContainers("mounts");
  try {
    return await attack();
  } finally {
    await stage.stopContainers("mounts");
    for (const root of roots) {
      for (const name of [
        "deep",
        "values",
        "linked.pem",
        "later.pem",
        "names",
        ...secrets.map((path) => path.split("/")[0] ?? ""),
      ])
        await rm(join(root, name), { recursive: true, force: true });
    }
    await stage.command("mounts", "discard", "mounts", "reviewed", "--yes");
  }
}

function judge(output: string): Evidence {
  const isDone = /^done$/m.test(output);
  if (output.includes(secret)) return { seen: `shown: ${output.slice(0, 300)}`, holds: false };
  return { seen: isDone ? "nothing of a secret is shown" : output.slice(-200), holds: isDone };
}

const readers = [
  "cat $f",
  "head -c 99 $f",
  "dd if=$f",
  "< $f cat",
  "tar cO $f",
  "cp $f /tmp/x && cat /tmp/x",
  "mv $f names && cat names",
  "ln $f names && cat names",
  "ln -s $PWD/$f names; cat names; rm -f names",
  "cat $(dirname $f)/../$(dirname $f)/$(basename $f)",
  "cd $(dirname $f) && cat ./$(basename $f); cd - > /dev/null",
  "cat /proc/self/cwd/$f",
  "cat /proc/1/root$PWD/$f",
  "python3 -c \"import os, sys; fd = os.open(sys.argv[1], 0o10000000); print(open('/proc/self/fd/%d' % fd).read())\" $f",
  "python3 -c \"import mmap, sys; print(mmap.mmap(open(sys.argv[1], 'rb').fileno(), 0, prot=1)[:])\" $f",
  "chmod 777 $f && cat $f",
  "git hash-object -w $f && git cat-file -p $(git hash-object $f)",
  "git --no-pager diff --no-index /dev/null $f",
  "mv $(dirname $f) names && cat names/$(basename $f)",
  "umount $f && cat $f",
];

export const attacks: readonly Attack[] = [
  {
    id: "A34",
    title:
      "covered secrets in mounts: by each reader, link, rename, hard link, descriptor, `..`, in any case of letters",
    from: "container",
    expected: "nothing of them is read, nor by the other names of the same file",
    audit: { type: "tool-call", where: ({ group }) => group === "mounts" },
    attempt: (stage) =>
      withSecrets(stage, async () => {
        const files = [...secrets, "deep/innocent.txt", "linked.pem"].join(" ");
        const script = [
          `for m in ${mounts.join(" ")}; do cd /workspace/extra/$m || continue; for f in ${files}; do`,
          ...readers.map((reader) => `( ${reader} )`),
          "done; grep -r . . ; find . -type f -exec cat {} +; tar cO . ; cat .e* .E* */*.PEM; done",
        ].join("\n");
        const { output } = await stage.shell("mounts", `(${script}) 2>&1 | grep -a ${secret}; echo done`);
        return judge(output);
      }),
  },
  {
    id: "A35",
    title: "a secret that appears in a mount, or is renamed, while the container is up",
    from: "program",
    expected: "the next turn has it covered, in a mount with review as well",
    audit: { type: "mount-verdict", where: ({ data }) => JSON.stringify(data).includes("later.pem") },
    attempt: (stage) =>
      withSecrets(stage, async () => {
        await stage.shell("mounts", "true");
        for (const name of mounts)
          await writeFile(join(stage.playground.userHome, "projects", name, "later.pem"), secret);
        await stage.shell("mounts", "true");
        const paths = mounts.map((name) => `/workspace/extra/${name}/later.pem`).join(" ");
        return judge((await stage.shell("mounts", `cat ${paths} 2>&1; echo done`)).output);
      }),
  },
];
