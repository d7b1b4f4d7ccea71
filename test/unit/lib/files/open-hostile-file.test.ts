import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { link, mkdir, readFile, readdir, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import { HostileFolder } from "../../../../src/lib/files/open-hostile-file.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

test("a file is read, up to the cap and not beyond", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "AGENTS.md"), "12345");
  await using hostile = await HostileFolder.open(folder.path);

  expect(await hostile.readFile("AGENTS.md", { maxBytes: 5 })).toEqual({ ok: true, bytes: Buffer.from("12345") });
  expect(await hostile.readFile("AGENTS.md", { maxBytes: 4 })).toEqual({ ok: false, reason: "too-large" });
  expect(await hostile.readFile("AGENTS.md", { maxBytes: 4, cut: true })).toEqual({
    ok: true,
    bytes: Buffer.from("1234"),
  });
  expect(await hostile.readFile("AGENTS.md", { maxBytes: 5, ownerUid: 4_242 })).toEqual({
    ok: false,
    reason: "foreign-owner",
  });
});

test("everything that is not its own plain file is refused with the reason", async () => {
  await using folder = await temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  await mkdir(at("folder"));
  await symlink("/etc/hostname", at("link"));
  await symlink("nowhere", at("dangling"));
  await writeFile(at("one"), "");
  await link(at("one"), at("two"));
  await writeFile(at("sparse"), "");
  await truncate(at("sparse"), 2 ** 35);
  await promisify(execFile)("mkfifo", [at("fifo")]);
  await using hostile = await HostileFolder.open(folder.path);
  const reasonOf = async (name: string | Buffer): Promise<string> => {
    const reading = await hostile.readFile(name, { maxBytes: 100 });
    return reading.ok ? "read" : reading.reason;
  };

  expect(await reasonOf("folder")).toBe("not-a-file");
  expect(await reasonOf("link")).toBe("link");
  expect(await reasonOf("dangling")).toBe("link");
  expect(await reasonOf("two")).toBe("hard-linked");
  expect(await reasonOf("sparse")).toBe("too-large");
  expect(await reasonOf("fifo")).toBe("not-a-file");
  expect(await reasonOf("absent")).toBe("missing");
  expect(await reasonOf("x".repeat(300))).toBe("bad-name");
});

test("no name leads out of the folder", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "inner"));
  await writeFile(join(folder.path, "outside"), "secret");
  await using hostile = await HostileFolder.open(join(folder.path, "inner"));

  for (const name of ["../outside", "..", ".", "", "/etc/hostname", "a/../../outside", "a\0b"]) {
    expect(await hostile.readFile(name, { maxBytes: 100 })).toEqual({ ok: false, reason: "bad-name" });
    expect(await hostile.readFile(Buffer.from(name), { maxBytes: 100 })).toEqual({ ok: false, reason: "bad-name" });
    expect(await hostile.remove(name)).toBe(false);
  }
  expect(await readFile(join(folder.path, "outside"), "utf8")).toBe("secret");
});

test("a link is not opened as a folder, and a folder that is swapped later changes nothing", async () => {
  await using folder = await temporaryFolder();
  const [real, moved, secret] = ["real", "moved", "secret"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(real);
  await mkdir(secret);
  await writeFile(join(real, "file"), "mine");
  await writeFile(join(secret, "file"), "secret");
  await symlink(secret, join(folder.path, "link"));
  await using hostile = await HostileFolder.open(real);

  await rename(real, moved);
  await symlink(secret, real);

  expect(await hostile.readFile("file", { maxBytes: 100 })).toEqual({ ok: true, bytes: Buffer.from("mine") });
  await expect(HostileFolder.open(join(folder.path, "link"))).rejects.toMatchObject({ code: "not_found" });
  await expect(HostileFolder.open(join(folder.path, "absent"))).rejects.toMatchObject({ code: "not_found" });
});

test("a file that is swapped for a link again and again never gives what the link points at", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "secret"), "secret");
  await mkdir(join(folder.path, "inner"));
  await using hostile = await HostileFolder.open(join(folder.path, "inner"));
  const script = [
    "import os,sys",
    "os.chdir(sys.argv[1])",
    "while True:",
    "  open('f','w').write('mine'); os.rename('f','file')",
    "  os.symlink('../secret','l'); os.rename('l','file')",
  ].join("\n");
  const swapper = spawn("python3", ["-c", script, join(folder.path, "inner")], { stdio: "ignore" });

  const seen = new Set<string>();
  try {
    await expect.poll(() => readdir(join(folder.path, "inner"))).toContain("file");
    // Until it has hit a link, too: the swapper may have to wait for the processor.
    for (let attempt = 0; attempt < 3_000 || !seen.has("link"); attempt += 1) {
      const reading = await hostile.readFile("file", { maxBytes: 100 });
      seen.add(reading.ok ? reading.bytes.toString() : reading.reason);
    }
  } finally {
    swapper.kill("SIGKILL");
    await once(swapper, "exit");
  }

  expect(seen).toContain("link");
  expect([...seen]).not.toContain("secret");
});

test("a listing stops at the bound, and names that are not text can be used", async () => {
  await using folder = await temporaryFolder();
  const odd = Buffer.from([0x66, 0xff, 0xfe]);
  await writeFile(Buffer.concat([Buffer.from(`${folder.path}/`), odd]), "odd");
  await using hostile = await HostileFolder.open(folder.path);

  expect(await hostile.list(1)).toEqual({ names: [odd], complete: true });
  expect(await hostile.list(0)).toEqual({ names: [], complete: false });
  expect(await hostile.readFile(odd, { maxBytes: 10 })).toMatchObject({ ok: true });
  expect(await hostile.remove(odd)).toBe(true);
  expect(await readdir(folder.path)).toEqual([]);
});

test("removing a link leaves what it points at, and a folder with something in it stays", async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, "inner", "full"), { recursive: true });
  await mkdir(join(folder.path, "inner", "empty"));
  await writeFile(join(folder.path, "inner", "full", "file"), "");
  await symlink("full", join(folder.path, "inner", "link"));
  await using hostile = await HostileFolder.open(join(folder.path, "inner"));

  expect(await hostile.remove("link")).toBe(true);
  expect(await hostile.remove("empty")).toBe(true);
  expect(await hostile.remove("gone")).toBe(true);
  expect(await hostile.remove("full")).toBe(false);
  expect(await readdir(join(folder.path, "inner", "full"))).toEqual(["file"]);
});

test("a closed folder gives nothing, even when its descriptor's number names another folder by then", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "file"), "text");
  const closed = await HostileFolder.open(folder.path);
  await closed[Symbol.asyncDispose]();

  await using other = await HostileFolder.open(folder.path);

  expect(await other.list(10)).toMatchObject({ complete: true });
  expect(await closed.readFile("file", { maxBytes: 100 })).toEqual({ ok: false, reason: "missing" });
});
