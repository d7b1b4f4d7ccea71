import { chown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { judgeMounts, type MountGrant } from "../../src/sandbox/mounts/rules.ts";
import type { ContainerUser } from "../../src/sandbox/profile/profile.ts";
import { containerSpec } from "../../src/sandbox/launch/spec.ts";
import { Sandbox } from "../support/sandbox.ts";

const sandbox = await Sandbox.open();
afterAll(() => sandbox[Symbol.asyncDispose]());

/** Judges requests against `projects` (rw) and `docs` (ro) of the sandbox's folder, which exist afterwards. */
async function judged(requests: readonly unknown[]): Promise<MountGrant[]> {
  const home = join(sandbox.folder, "home");
  for (const name of ["projects/app", "projects/a:b c", "docs", "settings"])
    await mkdir(join(home, name), { recursive: true });
  const allowlistPath = join(home, "settings/mounts.json");
  const roots = [
    { path: "~/projects", access: "rw" },
    { path: "~/docs", access: "ro" },
  ];
  await writeFile(allowlistPath, JSON.stringify({ roots }), { mode: 0o600 });
  const verdicts = await judgeMounts(requests, {
    allowlistPath,
    homeFolder: home,
    crabpotHome: join(home, "settings"),
    checkout: join(sandbox.folder, "checkout"),
    hostUid: process.getuid?.() ?? 0,
  });
  return verdicts.flatMap((verdict) => (verdict.verdict === "denied" ? [] : [verdict]));
}

/** The owner of a folder; when that is root, the folder is given to another user first. */
async function giveAway(grant: MountGrant | undefined): Promise<ContainerUser> {
  if (grant === undefined) throw new Error("Not granted.");
  if (grant.uid !== 0) return { uid: grant.uid, gid: grant.gid };
  const { user } = sandbox.wish;
  await chown(grant.realPath, user.uid, user.gid);
  return user;
}

test("granted folders appear below /workspace/extra with the access they got, denied ones not at all", async () => {
  const granted = await judged([
    { source: "~/projects/app", target: "site/app", access: "rw" },
    { source: "~/projects/a:b c", target: "odd name", access: "ro" },
    { source: "~/docs", target: "docs", access: "rw" },
    { source: "/etc", target: "etc" },
  ]);
  const user = await giveAway(granted[0]);
  await writeFile(join(sandbox.folder, "home/docs/read.txt"), "from the host");

  const spec = containerSpec({ ...sandbox.wish, user, granted });
  const script = [
    "cd /workspace/extra && ls",
    "cat docs/read.txt && echo",
    "echo from the agent > site/app/written.txt",
    "for place in docs 'odd name' . site; do (: > \"$place/x\") 2>&1 | sed 's/.*: //'; done",
  ];
  const { output } = await sandbox.run(["bash", "-c", script.join("\n")], (body) => ({
    ...spec.body,
    Cmd: body["Cmd"],
  }));

  expect(output.trim().split("\n")).toEqual([
    "docs",
    "odd name",
    "site",
    "from the host",
    ...Array.from({ length: 4 }, () => "Read-only file system"),
  ]);
  expect(await readFile(join(sandbox.folder, "home/projects/app/written.txt"), "utf8")).toBe("from the agent\n");
});

test("a container with granted mounts attests clean", async () => {
  const granted = await judged([
    { source: "~/projects/app", target: "site/app", access: "ro" },
    { source: "~/projects/a:b c", target: "odd name", access: "rw" },
  ]);

  expect(granted).toHaveLength(2);
  expect(await sandbox.surprises((body) => body, granted)).toEqual([]);
});

test("a link in a granted folder that leads out of it leads nowhere in the container", async () => {
  const granted = await judged([{ source: "~/projects/app", target: "app", access: "ro" }]);
  await writeFile(join(sandbox.folder, "secret"), "host secret");
  await symlink(join(sandbox.folder, "secret"), join(sandbox.folder, "home/projects/app/out"));
  await symlink("../../../secret", join(sandbox.folder, "home/projects/app/up"));

  const { output } = await sandbox.run(
    ["bash", "-c", "cat /workspace/extra/app/out /workspace/extra/app/up; true"],
    (body) => ({
      ...containerSpec({ ...sandbox.wish, granted }).body,
      Cmd: body["Cmd"],
    }),
  );

  expect(output).not.toContain("host secret");
  expect(output.match(/No such file/g)).toHaveLength(2);
});
