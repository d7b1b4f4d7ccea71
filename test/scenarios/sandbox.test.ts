import { chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { modelKey, runsInOrder } from "../support/model-host.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";

/** Groups whose messages say what is run. */
const scripted = { model: "scripted" };

const folder = await temporaryFolder(onDisk);
afterAll(() => folder[Symbol.asyncDispose]());
const root = join(folder.path, "projects");
for (const name of ["site", "docs", "hidden/.ssh", "roots"]) await mkdir(join(root, name), { recursive: true });
const ownUid = process.getuid?.() ?? 0;
const owner = ownUid === 0 ? 1234 : ownUid;
if (ownUid === 0) for (const name of ["site", "docs"]) await chown(join(root, name), owner, owner);
const mounts = [
  { source: join(root, "site"), target: "site", access: "rw" },
  { source: join(root, "docs"), target: "docs", access: "ro" },
  { source: join(root, "hidden"), target: "hidden", access: "rw" },
  ...(ownUid === 0 ? [{ source: join(root, "roots"), target: "roots", access: "rw" }] : []),
];

const hosts = shareModelHost({
  process: "shared",
  groups: {
    nobody: {},
    searching: {},
    calling: {},
    attacked: scripted,
    other: scripted,
    mounted: { ...scripted, mounts },
  },
  mounts: { roots: [{ path: root, access: "rw" }] },
  models: { routes: { main: ["gpt/test-model"], scripted: ["offline/scripted"] } },
  providers: { offline: { kind: "offline" } },
  config: { sandbox: { pids: 100, memoryMb: 256 } },
});

test("inside, the agent is nobody: own uid, no capability, no privilege to gain, filtered, no network, read-only root", async () => {
  const group = hosts.group(
    "nobody",
    runsInOrder(
      "id -u; id -G",
      "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status",
      "ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1",
      "touch /probe 2>&1; touch /usr/bin/probe 2>&1; touch /workspace/global/probe 2>&1",
      "env; cat /proc/1/environ | tr '\\0' '\\n'",
    ),
  );

  const { text } = await group.ask("@crab go");

  const uid = Number(/^\d+$/m.exec(text)?.[0]);
  expect(uid).toBeGreaterThan(1000);
  expect(uid).not.toBe(process.getuid?.());
  expect(text.match(/^Cap\w+:\t0000000000000000$/gm)).toHaveLength(5);
  expect(text).toMatch(/NoNewPrivs:\t1/);
  expect(text).toMatch(/Seccomp:\t2/);
  expect(text).not.toMatch(/eth\d/);
  expect(text.match(/Read-only file system/g)).toHaveLength(3);
  expect(text).not.toContain(modelKey);
  expect(text).not.toMatch(/API_KEY|TOKEN/);
});

test("no key is anywhere in the container, and no engine socket", async () => {
  const group = hosts.group(
    "searching",
    runsInOrder(
      `grep -rIl '${modelKey.slice(3, 12)}' / --exclude-dir=proc --exclude-dir=sys 2>/dev/null | head`,
      "find / -xdev -type s 2>/dev/null; find / -name 'docker.sock' -o -name 'podman.sock' 2>/dev/null; echo searched",
    ),
  );

  const { text } = await group.ask("@crab go");

  expect(text.replaceAll(/\[exit code.*\]/g, "").trim()).toBe("searched");
});

test("AF_VSOCK, AF_ALG, raw sockets, namespaces and io_uring are refused", async () => {
  const program = [
    "import ctypes, socket, errno",
    "libc = ctypes.CDLL(None, use_errno=True)",
    "def call(name, number, *args):",
    "    ok = libc.syscall(number, *args) >= 0; print(name, 'OPEN' if ok else errno.errorcode[ctypes.get_errno()])",
    "def sock(name, *args):",
    "    try: socket.socket(*args); print(name, 'OPEN')",
    "    except OSError as e: print(name, errno.errorcode[e.errno])",
    "sock('vsock', 40, 1, 0); sock('alg', 38, 5, 0); sock('packet', 17, 3, 0); sock('raw', 2, 3, 1); sock('unix', 1, 1, 0)",
    "call('io_uring_setup', 425, 8, None); call('unshare', 272, 0x10000000); call('bpf', 321, 0, None, 0)",
  ].join("\n");
  const group = hosts.group("calling", runsInOrder(`python3 - <<'END'\n${program}\nEND`));

  const { text } = await group.ask("@crab go");

  for (const name of ["vsock", "alg", "packet", "raw", "io_uring_setup", "unshare", "bpf"]) {
    expect(text).toMatch(new RegExp(`^${name} E[A-Z]+$`, "m"));
  }
  expect(text).toContain("unix OPEN");
});

test("a fork bomb and a memory hog stay inside, and the next turn works", async () => {
  const { host } = hosts.running;

  await host.say("attacked", "@crab run bomb() { bomb | bomb & }; bomb; sleep 5", { id: "bomb" });
  const other = await host.ask("other", "@crab run echo unharmed");
  await host.replyTo("bomb");
  const hog = await host.ask("attacked", `@crab run python3 -c "b = bytearray(2_000_000_000); print(len(b))"`);
  const after = await host.ask("attacked", "@crab run echo alive");

  expect(other.text).toContain("unharmed");
  expect(hog.text).not.toContain("2000000000");
  expect(after.text).toContain("alive");
});

test("a writable mount is shared with its owner's uid, a read-only one cannot be written, a refused one is missing", async () => {
  const { host } = hosts.running;

  const { text } = await host.ask(
    "mounted",
    "@crab run id -u; echo made > /workspace/extra/site/file; touch /workspace/extra/docs/x 2>&1; ls /workspace/extra",
  );
  const check = await host.cli("mounts", "check", "mounted", "--json");

  expect(text).toContain(String(owner));
  expect((await stat(join(root, "site/file"))).uid).toBe(owner);
  expect(text).toContain("Read-only file system");
  expect(text).not.toMatch(/hidden|roots/);
  const verdicts = check.stdout
    .trim()
    .split("\n")
    .map(
      (line) => JSON.parse(line) as { target: string; verdict: string; reason: string; rule: string; root?: string },
    );
  expect(verdicts.map(({ target, verdict }) => `${target} ${verdict}`)).toEqual([
    "site rw",
    "docs ro",
    "hidden denied",
    ...(ownUid === 0 ? ["roots denied"] : []),
  ]);
  expect(verdicts.map(({ rule }) => rule).slice(0, 3)).toEqual(["root", "root", "contents"]);
  expect(verdicts.map((verdict) => verdict.root).slice(0, 3)).toEqual([root, root, undefined]);
  expect(verdicts.slice(3).every(({ reason }) => reason.includes("chown"))).toBe(true);
});

test("the audit log of all this verifies, and names the record that was changed afterwards", async () => {
  const { host } = hosts.running;
  await host.ask("other", "@crab run echo proof");
  await host.end("SIGTERM");

  const good = await host.cli("audit", "verify", "--json");
  await flipAuditByte(host.home);
  const bad = await host.cli("audit", "verify", "--json");

  expect(good.code).toBe(0);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/"firstBadSeq":\d+/);
});

/** Changes one byte in the middle of the newest audit file. */
async function flipAuditByte(home: string): Promise<void> {
  const audit = join(home, "audit");
  const names = (await readdir(audit)).filter((name) => name.endsWith(".jsonl"));
  const file = join(audit, names.toSorted().at(-1) ?? "");
  const bytes = await readFile(file);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await writeFile(file, bytes);
}
