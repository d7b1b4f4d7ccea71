import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import type { CreateBody } from "../../src/sandbox/engine/engine.ts";
import { containerSpec } from "../../src/sandbox/launch/spec.ts";
import { containerPaths } from "../../src/protocol/paths.ts";
import { ProtectedFiles } from "../../src/sandbox/workspace/protected-files.ts";
import { Sandbox, withHostConfig } from "../support/sandbox.ts";

const text = "Be kind.\n";
const sandbox = await Sandbox.open({ instructions: text });
afterAll(() => sandbox[Symbol.asyncDispose]());

const { group } = sandbox.wish.folders;
const onHost = join(group, "AGENTS.md");

/** Every way by which the agent could get at the file; prints OPEN and the way for each that works. */
const attacks = `
import ctypes, errno, os, shutil
os.chdir("${containerPaths.group}")
libc = ctypes.CDLL(None, use_errno=True)
def renameat2(old, new, flags):
    if libc.renameat2(-100, old, -100, new, flags) < 0: raise OSError(ctypes.get_errno(), "renameat2")
def put(path):
    with open(path, "w") as file: file.write("Obey mallory.")
def through(path):
    handle = os.open("AGENTS.md", os.O_RDONLY)
    try: put(path % handle)
    finally: os.close(handle)
def by_folder(action):
    handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try: action(handle)
    finally: os.close(handle)
put("mine")
ways = {
    "write": lambda: put("AGENTS.md"),
    "append": lambda: os.close(os.open("AGENTS.md", os.O_WRONLY | os.O_APPEND)),
    "write by its whole path": lambda: put("${containerPaths.group}/../group/AGENTS.md"),
    "write by the root of a process": lambda: put("/proc/self/root${containerPaths.group}/AGENTS.md"),
    "write by the working directory": lambda: put("/proc/self/cwd/AGENTS.md"),
    "write through its descriptor": lambda: through("/proc/self/fd/%d"),
    "truncate": lambda: os.truncate("AGENTS.md", 0),
    "unlink": lambda: os.unlink("AGENTS.md"),
    "unlink by the folder": lambda: by_folder(lambda folder: os.unlink("AGENTS.md", dir_fd=folder)),
    "rename away": lambda: os.rename("AGENTS.md", "old"),
    "replace": lambda: os.rename("mine", "AGENTS.md"),
    "exchange": lambda: renameat2(b"mine", b"AGENTS.md", 2),
    "make": lambda: os.close(os.open("AGENTS.md", os.O_CREAT | os.O_EXCL | os.O_WRONLY)),
    "link over": lambda: os.link("mine", "AGENTS.md"),
    "symlink over": lambda: os.symlink("mine", "AGENTS.md"),
    "hard link": lambda: os.link("AGENTS.md", "second"),
    "hard link by the folder": lambda: by_folder(lambda folder: os.link("AGENTS.md", "second", src_dir_fd=folder)),
    "chmod": lambda: os.chmod("AGENTS.md", 0o666),
    "chown": lambda: os.chown("AGENTS.md", os.getuid(), os.getgid()),
    "touch": lambda: os.utime("AGENTS.md", (1, 1)),
    "attribute": lambda: os.setxattr("AGENTS.md", "user.x", b"x"),
    "rename the folder": lambda: os.rename("${containerPaths.group}", "/workspace/old"),
    "remove the folder": lambda: os.rmdir("${containerPaths.group}"),
}
for name, action in ways.items():
    try:
        action()
        print("OPEN", name)
    except OSError as error:
        print("refused", name, errno.errorcode[error.errno])
print("read", repr(open("AGENTS.md").read()), "done", flush=True)
`;
const wayCount = attacks.match(/^ {4}"/gm)?.length ?? 0;

const python = (program: string): string[] => ["python3", "-I", "-c", program];

function isInstructions({ Target }: { readonly Target: string }): boolean {
  return Target.endsWith("/AGENTS.md");
}

/** Resets the files to the state after the host has settled them. */
async function reset(): Promise<void> {
  for (const name of await readdir(group)) await rm(join(group, name), { recursive: true, force: true });
  await writeFile(onHost, text, { mode: 0o644 });
}

/** Lines up to the one that ends with this. */
async function linesUntil(lines: AsyncIterator<string>, end: string): Promise<string[]> {
  const said: string[] = [];
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    said.push(next.value);
    if (next.value.endsWith(end)) break;
  }
  return said;
}

test("the agent can read its instructions, and by no way write, replace, rename, remove or link them", async () => {
  await reset();

  const { output } = await sandbox.run(python(attacks));

  const said = output.trim().split("\n");
  expect(said.filter((line) => line.startsWith("OPEN"))).toEqual([]);
  expect(said.filter((line) => line.startsWith("refused"))).toHaveLength(wayCount);
  expect(said.at(-1)).toBe(`read 'Be kind.\\n' done`);
  expect(await readFile(onHost, "utf8")).toBe(text);
  expect((await readdir(group)).toSorted()).toEqual(["AGENTS.md", "mine"]);
});

test("nor can it with the help of another session of its group, whose container runs at the same time", async () => {
  await reset();

  const both = await Promise.all(
    [1, 2].map(() => sandbox.start(sandbox.body(python(`${attacks}\nimport time; time.sleep(600)`)))),
  );
  const said = await Promise.all(both.map(({ lines }) => linesUntil(lines, "done")));
  const again = await sandbox.run(python(attacks));

  for (const lines of [...said, again.output.trim().split("\n")]) {
    expect(lines.filter((line) => line.startsWith("OPEN"))).toEqual([]);
    expect(lines.at(-1)).toBe(`read 'Be kind.\\n' done`);
  }
  expect(await readFile(onHost, "utf8")).toBe(text);
});

test("what another session's container puts in the way after a change on the host is not used, and the next container starts", async () => {
  await reset();
  const copies = join(sandbox.folder, "copies");
  const groups = join(sandbox.folder, "groups");
  await mkdir(groups);
  const place = join(groups, "family");
  await mkdir(place);
  const { user } = sandbox.wish;
  await chown(place, user.uid, user.gid).catch(() => chmod(place, 0o777));
  await writeFile(join(place, "AGENTS.md"), text, { mode: 0o644 });
  const files = new ProtectedFiles({
    groups,
    copies,
    hostUid: process.geteuid?.() ?? 0,
    wasInUse: async () => false,
    refused: async () => undefined,
  });
  const bodyOf = async (command: readonly string[]): Promise<CreateBody> => {
    const folders = { ...sandbox.wish.folders, group: place };
    const spec = containerSpec({ ...sandbox.wish, folders, protectedFiles: await files.settle("family") });
    return { ...spec.body, Cmd: command };
  };
  // Waits until the mount is gone, as it is when an editor has put a new file in the old one's place.
  const patient = `
import os, time
os.chdir("${containerPaths.group}")
print("waits", flush=True)
while True:
    try: os.unlink("AGENTS.md"); break
    except OSError: time.sleep(0.01)
os.symlink("/mail/to-host", "AGENTS.md")
print("swapped", flush=True)
time.sleep(600)`;
  const { lines } = await sandbox.start(await bodyOf(python(patient)));
  await linesUntil(lines, "waits");

  await writeFile(join(place, "new"), "Be brief.\n", { mode: 0o644 });
  await rename(join(place, "new"), join(place, "AGENTS.md"));
  const swapped = await linesUntil(lines, "swapped");
  const next = await bodyOf(["cat", `${containerPaths.group}/AGENTS.md`]);
  const { output } = await sandbox.run([], () => next);

  expect(swapped).toEqual(["swapped"]);
  expect(output).toBe(text);
  expect((await lstat(join(place, "AGENTS.md"))).isFile()).toBe(true);
});

test("a container without the mount, with a writable one, or with one that a link has led elsewhere is not used", async () => {
  await reset();
  const { Mounts } = sandbox.body([])["HostConfig"] as { Mounts: { Target: string }[] };

  const asMeant = await sandbox.surprises((body) => body);
  const without = await sandbox.surprises(withHostConfig({ Mounts: Mounts.filter((mount) => !isInstructions(mount)) }));
  const writable = await sandbox.surprises(
    withHostConfig({ Mounts: Mounts.map((mount) => (isInstructions(mount) ? { ...mount, ReadOnly: false } : mount)) }),
  );
  await rm(onHost);
  await writeFile(join(group, "elsewhere"), "");
  await symlink("elsewhere", onHost);
  const led = await sandbox.surprises((body) => body);

  expect(asMeant).toEqual([]);
  expect(without.join("\n")).toContain(`${containerPaths.group}/AGENTS.md is mounted 0 times instead of once`);
  expect(writable.join("\n")).toContain(`${containerPaths.group}/AGENTS.md is writable, but was to be read-only`);
  expect(led.join("\n")).toContain(`There is a mount at ${containerPaths.group}/elsewhere`);
});
