import { afterAll, expect, test } from "vitest";

import { readHostView } from "../../src/sandbox/attestation/host.ts";
import { ContainerCgroups } from "../../src/sandbox/cgroups/container-cgroups.ts";
import { requiredAttempts } from "../../src/sandbox/attestation/attestation.ts";
import { probeReport } from "../../src/protocol/messages.ts";
import { containerPaths } from "../../src/protocol/paths.ts";
import { ReusedContainer } from "../support/reused-container.ts";
import { pidOf, Sandbox } from "../support/sandbox.ts";

const stack = new AsyncDisposableStack();
const sandbox = stack.use(await Sandbox.open());
const container = stack.use(await ReusedContainer.start(sandbox));
afterAll(() => stack.disposeAsync());

const shell = (...lines: readonly string[]) => container.run(["bash", "-euc", lines.join("\n")]);
const python = (...lines: readonly string[]) => sandbox.run(["python3", "-c", lines.join("\n")]);

test.each([
  [
    "Node with workers and children",
    `node -e '
    const { Worker } = require("node:worker_threads");
    const { execFileSync } = require("node:child_process");
    new Worker("require(\\"worker_threads\\").parentPort.postMessage(6 * 7)", { eval: true })
      .on("message", (answer) => console.log(answer, String(execFileSync("echo", ["child"]))))'`,
    /42 child/,
  ],
  [
    "Node serving and fetching over loopback",
    `node -e '
    const server = require("node:http").createServer((_, answer) => answer.end("served")).listen(0, async () => {
      console.log(await (await fetch("http://127.0.0.1:" + server.address().port)).text());
      server.close();
    })'`,
    /served/,
  ],
  [
    "Node watching files",
    `node -e '
    const fs = require("node:fs");
    fs.watch("/tmp", (event, name) => { console.log(name); process.exit() });
    setImmediate(() => fs.writeFileSync("/tmp/watched", ""))'`,
    /watched/,
  ],
  [
    "git",
    "cd && git init -q r && cd r && echo x > f && git add f && git commit -qm first && git log --format=%an:%s && git gc -q",
    /crabpot agent:first/,
  ],
  [
    "Python with processes, threads and a database",
    `python3 -c '
import concurrent.futures, multiprocessing, sqlite3, threading
with multiprocessing.Pool(2) as pool: print(sum(pool.map(abs, [-20, -22])))
with concurrent.futures.ThreadPoolExecutor() as threads: print(*threads.map(str, "ab"))
print(sqlite3.connect("/tmp/x.db").execute("select 1").fetchone())'`,
    /42\na b\n\(1,\)/,
  ],
  [
    "curl",
    "python3 -m http.server 8000 >/dev/null 2>&1 & curl -s --retry 50 --retry-delay 0 --retry-connrefused http://127.0.0.1:8000/ | head -1",
    /DOCTYPE/,
  ],
  ["ripgrep and jq", 'echo \'{"a":"needle"}\' > /tmp/h && rg -o needle /tmp && jq -r .a /tmp/h', /needle\nneedle/],
  [
    "FIFOs and unix sockets",
    "mkfifo /tmp/p && (echo through > /tmp/p &) && cat /tmp/p && python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"pair\"); print(b.recv(9))'",
    /through\nb'pair'/,
  ],
  [
    "what people's files need: PDF, zip and pictures",
    `cd /tmp && python3 -c '
import zipfile
with zipfile.ZipFile("a.zip", "w") as archive: archive.writestr("inside.txt", "unpacked")
text = b"BT /F1 12 Tf 9 9 Td (printed) Tj ET"
objects = [
  b"<</Type/Catalog/Pages 2 0 R>>",
  b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
  b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
  b"<</Length %d>>stream\\n%s\\nendstream" % (len(text), text),
  b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
]
body = b"".join(b"%d 0 obj%s endobj\\n" % (number, item) for number, item in enumerate(objects, 1))
open("a.pdf", "wb").write(b"%PDF-1.4\\n" + body + b"trailer<</Root 1 0 R>>")'
    pdftotext a.pdf - 2>/dev/null && unzip -q a.zip && cat inside.txt && echo
    convert -size 8x8 xc:red a.png && convert a.png a.jpg && file --brief --mime-type a.png a.jpg`,
    /printed[^]*unpacked\nimage\/png\nimage\/jpeg/,
  ],
  ["programs in the home folder", "cp /bin/echo ~/own && ~/own started", /started/],
  ["processes by name", "ps -eo comm | cat", /\bbash\b/],
])("%s works in the sandbox", async (_, command, expected) => {
  const { code, output } = await shell(command);

  expect(output).toMatch(expected);
  expect(code).toBe(0);
});

test("the probe tries everything it must, in a moment, and everything is refused", async () => {
  const { output } = await shell(`python3 ${containerPaths.probe}`);

  const report = probeReport.parse(JSON.parse(output.split("\n")[0] ?? ""));

  expect(report.attempts.filter((attempt) => attempt.outcome === "open")).toEqual([]);
  expect(report.attempts.map((attempt) => attempt.name).toSorted()).toEqual(requiredAttempts);
});

test("a 32-bit system call, which the filter could not look into, ends the program", async () => {
  const { output } = await python(
    "import ctypes, mmap, os, platform",
    "assert platform.machine() in ('x86_64', 'aarch64')",
    "if platform.machine() == 'aarch64': print('killed by 31'); raise SystemExit",
    "child = os.fork()",
    "if child == 0:",
    "    code = mmap.mmap(-1, 4096, prot=7)",
    // mov eax, 20 (getpid of 32-bit programs); int 0x80; ret
    "    code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))",
    "    print('not killed', ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))(), flush=True)",
    "    os._exit(0)",
    "print('killed by', os.WTERMSIG(os.waitpid(child, 0)[1]))",
  );

  expect(output.trim()).toBe("killed by 31");
});

test("what tells one machine from another reads as empty", async () => {
  const { output } = await shell(
    "cat /proc/version /proc/cmdline /proc/diskstats /proc/interrupts",
    "cat /proc/crypto /proc/swaps /proc/misc /proc/devices /proc/locks /proc/iomem /proc/ioports /proc/consoles",
    "cd /proc/sys/fs; cat /proc/sys/kernel/random/boot_id file-nr inode-nr inode-state dentry-state",
    "ls /proc/irq /proc/driver /proc/tty /proc/sys/fs/quota | grep -v : || true",
    "ls /sys/class /sys/block /sys/kernel /sys/fs 2>/dev/null | grep -v : || true",
    "hostname",
  );

  expect(output.trim()).toBe("crabpot");
});

test("nothing can be written but to the places that are meant for it", async () => {
  const { output } = await shell(
    "for place in / /etc /usr /opt/crabpot /var/tmp /dev /run /proc /sys /mail /workspace /workspace/extra /workspace/global /mail/to-agent /workspace/group /mail/to-host /tmp ~ /dev/shm; do",
    "  (: > $place/x) 2>/dev/null && echo $place",
    "done",
  );

  expect(output.trim().split("\n")).toEqual(["/workspace/group", "/mail/to-host", "/tmp", "/home/agent", "/dev/shm"]);
});

test("programs in the folder for temporary files do not start", async () => {
  const { output } = await shell("cp /bin/echo /tmp/own; /tmp/own started || echo refused");

  expect(output).toMatch(/Permission denied/);
  expect(output).toMatch(/refused/);
});

test("a fork bomb ends at the limit of processes, and the container can be removed", async () => {
  const bomb = [
    "import os, time",
    "count = 0",
    "try:",
    "    while True:",
    "        if os.fork() == 0: time.sleep(600)",
    "        count += 1",
    "except OSError as error: print(count, error.errno, flush=True)",
    "time.sleep(600)",
  ];
  const { id, lines } = await sandbox.start(sandbox.body(["python3", "-c", bomb.join("\n")]));

  const { value: said } = await lines.next();
  const isGone = async () => {
    await sandbox.engine.remove(id);
    return (await sandbox.engine.inspect(id)) === undefined;
  };

  // Of 128 the container's init and the bomb itself are two; the error is EAGAIN.
  expect(said).toBe("126 11");
  // A busy engine may refuse at first; the host tries again as well.
  await expect.poll(isGone).toBe(true);
});

const hungry = ["hog = [bytearray(16 << 20) for _ in range(64)]", "print('survived')"];
const takeTooMuch = () => sandbox.run(["python3", "-c", hungry.join("\n")]);

test("a program that takes too much memory is killed, and the engine says why", async () => {
  expect(await takeTooMuch()).toMatchObject({ code: 137, output: "" });
  // With the first version of cgroups Docker under load has been seen to miss one of ten.
  await expect.poll(takeTooMuch).toMatchObject({ code: 137, oomKilled: true, output: "" });
});

test("temporary files, shared memory and sparse giants are bounded", async () => {
  const { output } = await shell(
    "head -c 300M /dev/zero > /tmp/fill 2>/dev/null || stat -c %s /tmp/fill",
    "rm /tmp/fill",
    "head -c 300M /dev/zero > /dev/shm/fill 2>/dev/null || stat -c %s /dev/shm/fill",
    "rm /dev/shm/fill",
    'python3 -c \'open("/workspace/group/sparse", "w").truncate(50 << 30)\' 2>&1 | tail -1',
    'python3 -c \'import os\nfor n in range(1 << 17): open(f"/tmp/{n}", "w").close()\' 2>&1 | tail -1',
  );

  expect(output.split("\n").slice(0, 4)).toEqual([
    String(64 << 20),
    String(32 << 20),
    expect.stringContaining("File too large"),
    expect.stringContaining("No space left"),
  ]);
});

test("the kernel says the limits that were asked for", async () => {
  const { id } = await sandbox.start(sandbox.body(["sleep", "600"]));
  const inspection = await sandbox.engine.inspect(id);

  const look = async (pid: number) => readHostView({ pid, cgroups: await ContainerCgroups.find(pid, id), targets: [] });
  const view = await look(pidOf(inspection ?? {}));
  const elsewhere = await look(process.pid);

  expect(view).toMatchObject({ pidsMax: "128", memoryMax: String(256 << 20), sharedNamespaces: [] });
  expect(elsewhere).toBeUndefined();
});

test("the first process knows nothing but the constant environment", async () => {
  const { output } = await shell("tr '\\0' '\\n' < /proc/1/environ | sort");

  expect(output.trim().split("\n")).toEqual([
    "CRABPOT_GENERATION=1",
    "GIT_AUTHOR_EMAIL=agent@crabpot.invalid",
    "GIT_AUTHOR_NAME=crabpot agent",
    "GIT_COMMITTER_EMAIL=agent@crabpot.invalid",
    "GIT_COMMITTER_NAME=crabpot agent",
    "HOME=/home/agent",
    "HOSTNAME=crabpot",
    "LANG=C.UTF-8",
    expect.stringMatching(/^PATH=/),
    "TERM=dumb",
  ]);
});
