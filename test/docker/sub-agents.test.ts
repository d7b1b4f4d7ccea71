import { chown, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { containerSpec } from "../../src/sandbox/launch/spec.ts";
import { Sandbox } from "../support/sandbox.ts";

const sandbox = await Sandbox.open({ instructions: "Be brief." });
afterAll(() => sandbox[Symbol.asyncDispose]());

const scratch = join(sandbox.folder, "scratch");
await mkdir(scratch, { mode: 0o755 });
await chown(scratch, sandbox.wish.user.uid, sandbox.wish.user.gid);
await writeFile(join(sandbox.folder, "group/notes.txt"), "of the group");

const wish = { ...sandbox.wish, kind: "agent", folders: { ...sandbox.wish.folders, scratch } } as const;

/** Says of each place whether something can be made in it. */
const tries = `for place in /workspace/group /workspace/group/new /workspace/global /workspace; do
  (mkdir -p "$place" && : > "$place/x") 2>/dev/null && echo "$place: written" || echo "$place: refused"
done
(: >> /workspace/group/AGENTS.md) 2>/dev/null && echo changed || echo kept
mv /workspace/group/notes.txt /workspace/scratch/ 2>/dev/null && echo moved || echo stays
ln /workspace/group/notes.txt /workspace/scratch/link 2>/dev/null && echo linked || echo apart`;

test("a sub-agent reads the group's folder, writes its scratch folder and nothing else, and begins there", async () => {
  const spec = containerSpec(wish);

  const { output } = await sandbox.run(
    ["bash", "-c", `pwd; cat /workspace/group/notes.txt; echo; echo mine > answer.txt; ${tries}`],
    (body) => ({ ...spec.body, Cmd: body["Cmd"] }),
  );

  expect(output.trim().split("\n")).toEqual([
    "/workspace/scratch",
    "of the group",
    "/workspace/group: refused",
    "/workspace/group/new: refused",
    "/workspace/global: refused",
    "/workspace: refused",
    "kept",
    "stays",
    "apart",
  ]);
  expect(await readFile(join(scratch, "answer.txt"), "utf8")).toBe("mine\n");
  expect((await readdir(join(sandbox.folder, "group"))).toSorted()).toEqual(["AGENTS.md", "notes.txt"]);
});

test("a sub-agent's container says what it is by its labels, and attests clean", async () => {
  const spec = containerSpec(wish);

  expect(spec.body["Labels"]).toMatchObject({ "crabpot.session": wish.session, "crabpot.kind": "agent" });
  expect(await sandbox.surprisesOf(spec.body, (body) => body)).toEqual([]);
});

test("attestation finds a sub-agent's container whose group folder can be written to", async () => {
  const spec = containerSpec(wish);
  const writable = containerSpec(sandbox.wish);

  const found = await sandbox.surprisesOf(spec.body, (body) => ({ ...body, HostConfig: writable.body["HostConfig"] }));

  expect(found.join(" ")).toContain("/workspace/group is writable, but was to be read-only");
});
