import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { findSecrets } from "../../../../src/sandbox/mounts/covers.ts";
import { identifyFolder } from "../../../../src/sandbox/mounts/identity.ts";
import { openFolder } from "../../../../src/sandbox/mounts/open-below.ts";
import { readCovered } from "../../../../src/sandbox/mounts/read-covered.ts";
import type { MountGrant } from "../../../../src/sandbox/mounts/rules.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const never = new AbortController().signal;

async function put(root: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), "the-secret");
  }
}

async function coveredIn(root: string): Promise<string[]> {
  await using folder = await openFolder(root);
  return (await findSecrets(folder, never)).map(({ path }) => path);
}

test("secrets are found wherever they lie and however they are written, a folder of them as one", async () => {
  await using root = await temporaryFolder();
  const secrets = [".ENV", "a/b/c/x.pem", 'a/it\'s "one" $(x) [*].key', "ünï/.env.local"];
  await put(root.path, [...secrets, "home/.aws/credentials", "home/.aws/more/x.pem", "work.txt", ".env.example"]);

  expect(await coveredIn(root.path)).toEqual([...secrets, "home/.aws"].toSorted());
});

test("other names of a secret's file, and the file that a link of such a name leads to, are covered too", async () => {
  await using root = await temporaryFolder();
  await using outside = await temporaryFolder();
  await put(root.path, ["server.key", "real/values", "folder/x"]);
  await put(outside.path, ["far"]);
  await link(join(root.path, "server.key"), join(root.path, "folder/innocent.txt"));
  await symlink("real/values", join(root.path, ".env"));
  await symlink("../folder", join(root.path, "real/.kube"));
  await symlink(join(outside.path, "far"), join(root.path, "far.pem"));
  await symlink("nowhere", join(root.path, "gone.pem"));

  expect(await coveredIn(root.path)).toEqual(["folder", "real/values", "server.key"]);
});

test("what cannot be covered is refused with words", async () => {
  await using root = await temporaryFolder();
  await using crowded = await temporaryFolder();
  await writeFile(Buffer.concat([Buffer.from(`${root.path}/`), Buffer.from([0xff]), Buffer.from("x.pem")]), "");
  await put(
    crowded.path,
    Array.from({ length: 257 }, (_, index) => `${index}.pem`),
  );

  await expect(coveredIn(root.path)).rejects.toThrow(/a name that is no plain text; mount a narrower folder/);
  await expect(coveredIn(crowded.path)).rejects.toThrow(/257 files that look like secrets, and at most 256/);
});

test("a covered file is read, but no link, no folder, nothing too large and nothing that is not covered", async () => {
  await using root = await temporaryFolder();
  await put(root.path, [".env", ".aws/credentials", "work.txt"]);
  await writeFile(join(root.path, "large.pem"), "x".repeat(64 * 1024 + 1));
  await symlink("/etc/passwd", join(root.path, "link.pem"));
  await symlink("/etc", join(root.path, ".kube"));
  const identity = await identifyFolder(root.path);
  if (typeof identity === "string") throw new Error(identity);
  const covered = [".env", ".aws", "large.pem", "link.pem", ".kube", "none.pem"].map((path) => ({
    path,
    isFolder: false,
    inode: "",
    cover: "",
  }));
  const granted: MountGrant = { ...identity, source: root.path, target: "x", verdict: "ro", reason: "", covered };
  const read = (path: string): Promise<string> => readCovered([granted], `/workspace/extra/${path}`);

  expect(await read("x/.env")).toBe("the-secret");
  expect(await read("x/.aws/credentials")).toBe("the-secret");
  for (const path of ["x/link.pem", "x/.kube/passwd", "x/.aws", "x/none.pem", "x/.aws/../work.txt"])
    await expect(read(path)).rejects.toThrow(/is not a regular file/);
  for (const path of ["x/work.txt", "y/.env", "x/../x/.env"])
    await expect(read(path)).rejects.toThrow(/is not covered/);
  await expect(read("x/large.pem")).rejects.toThrow(/larger than 65536 bytes/);
});
