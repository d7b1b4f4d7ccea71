import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { PersistentShell } from "../../../container/agent/shell/persistent-shell.ts";
import { AgentProcess } from "../../fixtures/agent/agent-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The output without the last line. */
function printed({ output }: { output: string }): string {
  return output.replace(/\n?\[[^\n]*\]$/, "");
}

function lastLine({ output }: { output: string }): string {
  return output.split("\n").at(-1) ?? "";
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a command's output, errors among it, comes back with the exit code", async () => {
  await using agent = await AgentProcess.start();

  const good = await agent.shell("echo one; echo two >&2; echo three");
  const bad = await agent.shell("ls /does-not-exist");

  expect(good.output).toMatch(/^one\ntwo\nthree\n\[exit code 0, \d+\.\d s\]$/);
  expect(good.isError).toBe(false);
  expect(bad.output).toMatch(/No such file or directory\n\[exit code 2, \d+\.\d s\]$/);
});

test("directory, variables and functions stay from call to call and from turn to turn", async () => {
  await using agent = await AgentProcess.start();

  await agent.shell(
    "mkdir inner && cd inner; export COLOR=red; plain=1; greet() { echo hello $1; }; declare -A map=([a]=b)",
  );

  expect(printed(await agent.shell('pwd; greet "$COLOR" $plain; echo "${map[a]}"'))).toBe(
    `${agent.workspace}/inner\nhello red\nb`,
  );
});

test("what is left in the background does not hold up the call, even with its output still open", async () => {
  await using agent = await AgentProcess.start();

  const result = await agent.shell("sleep 1000 & (sleep 1000; echo late) & echo started");

  expect(printed(result)).toBe("started");
  expect(printed(await agent.shell("jobs -r | wc -l"))).toBe("2");
});

test("a background process that prints after its call lives on", async () => {
  await using agent = await AgentProcess.start();

  const result = await agent.shell("(while :; do echo tick; sleep 0.05; done) & echo pid=$!");
  const pid = Number(/pid=(\d+)/.exec(result.output)?.[1]);
  const later = await agent.shell(`sleep 0.3; kill -0 ${pid} && echo alive`);

  expect(later.output).toContain("alive");
});

test("programs that ask for input get none instead of waiting for ever", async () => {
  await using agent = await AgentProcess.start();

  const result = await agent.shell("cat; read -r line; echo status=$?; python3 -c 'input()'");

  expect(result.output).toContain("status=1");
  expect(result.output).toContain("EOFError");
});

test("a command that takes too long is ended with its children, and the next one works in the same place", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell("mkdir inner && cd inner; export COLOR=red");

  // Long enough for a slow machine to get as far as the wait.
  const result = await agent.shell(
    "echo before; trap '' TERM; sleep 1000 & echo $! > child; setsid sleep 1001 & echo $! > other; wait",
    5,
  );
  const pids = await Promise.all(
    ["child", "other"].map(async (name) => Number(await readFile(join(agent.workspace, "inner", name), "utf8"))),
  );

  expect(result.isError).toBe(true);
  expect(printed(result)).toBe("before");
  expect(lastLine(result)).toContain("timed out after 5 s");
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  expect(printed(await agent.shell("echo $PWD $COLOR"))).toBe(`${agent.workspace}/inner red`);
});

test("a command that ends the shell is reported, and a new shell goes on from the last completed call", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell(`mkdir 'an odd "name"' && cd 'an odd "name"'; export QUOTED=$'it\\'s\\n"two" lines'`);

  const result = await agent.shell("export LOST=1; echo bye; exit 3");

  expect(result.isError).toBe(true);
  expect(printed(result)).toBe("bye");
  expect(lastLine(result)).toContain("the shell ended with exit code 3");
  expect(printed(await agent.shell('echo "$PWD"; echo "$QUOTED"; echo "${LOST-unset}"'))).toBe(
    `${agent.workspace}/an odd "name"\nit's\n"two" lines\nunset`,
  );
});

test("a shell that was killed between two calls is replaced without a word", async () => {
  await using agent = await AgentProcess.start();
  const { output } = await agent.shell("echo pid=$$; cd /tmp");
  const pid = Number(/pid=(\d+)/.exec(output)?.[1]);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);

  expect(printed(await agent.shell("pwd"))).toBe("/tmp");
});

test("broken syntax is an error of that command only", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell("cd /tmp");

  const results = [
    await agent.shell("echo 'unfinished"),
    await agent.shell("if true; then"),
    await agent.shell("cat <<END\nno end"),
    await agent.shell("break; return 3; }"),
    await agent.shell(") ; \\"),
  ];

  expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false, false]);
  expect(results[0]?.output).toMatch(/unexpected EOF[\s\S]*\[exit code [12],/);
  expect(printed(await agent.shell("pwd"))).toBe("/tmp");
});

test("a command may redirect the shell's own output and set options without spoiling later calls", async () => {
  await using agent = await AgentProcess.start();

  await agent.shell("exec >/dev/null 2>&1; echo nothing");
  await agent.shell("set -x; set -u; exec 0</dev/zero");
  const result = await agent.shell(
    "set +x; cat | wc -c; echo back >/dev/stderr; echo too | tee /dev/stderr >/dev/null",
  );

  expect(result.output).toContain("0\nback\ntoo\n[exit code 0");
});

test("long output is cut in the middle, says by how much, and is whole in a file", async () => {
  await using agent = await AgentProcess.start();

  const result = await agent.shell("seq 1 200000");

  expect(result.output.length).toBeLessThan(31_000);
  expect(result.output.startsWith("1\n2\n3\n")).toBe(true);
  expect(printed(result).endsWith("199999\n200000")).toBe(true);
  const [, cut, path = ""] = /\[… (\d+) bytes cut; the whole output is in (\S+) …\]/.exec(result.output) ?? [];
  const whole = await readFile(path, "utf8");
  expect(whole.endsWith("\n200000\n")).toBe(true);
  const [head = "", tail = ""] = result.output.split(/\n\[…[^\n]*…\]\n/);
  expect(Number(cut)).toBe(whole.length - head.length - printed({ output: tail }).length - 1);
});

test("output of a gigabyte costs bounded memory and disk", async () => {
  await using agent = await AgentProcess.start();

  const result = await agent.shell("yes | head -c 1000000000");
  const path = /bytes are in (\S+) …\]/.exec(result.output)?.[1] ?? "";
  const status = await readFile(`/proc/${agent.pid}/status`, "utf8");

  expect((await stat(path)).size).toBe(8 * 1024 * 1024);
  expect(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(250_000);
});

test("only the newest long outputs are kept", async () => {
  await using agent = await AgentProcess.start();

  for (let call = 0; call < 6; call += 1) await agent.shell("seq 1 20000");

  expect(printed(await agent.shell("ls ~/tool-output"))).toBe("3.txt\n4.txt\n5.txt\n6.txt");
});

test("bytes that are no text arrive as text", async () => {
  await using agent = await AgentProcess.start();

  const result = await agent.shell(String.raw`printf 'a\000b\377c\xf0\x9f\xa6\x80'`);

  expect(printed(result)).toBe("ab\u{fffd}c🦀");
});

test("the shell dies before the agent when memory runs out", async () => {
  await using agent = await AgentProcess.start();

  expect(printed(await agent.shell("cat /proc/self/oom_score_adj"))).toBe("1000");
  expect(await readFile(`/proc/${agent.pid}/oom_score_adj`, "utf8")).not.toBe("1000\n");
});

test("a cancelled turn ends the running command at once, and the next turn works", async () => {
  await using agent = await AgentProcess.start();
  const turn = await agent.beginTurn();
  await agent.callTools(turn, [{ id: "a", name: "shell", input: { command: "echo $$ > pid; sleep 1000" } }]);
  const pidFile = join(agent.workspace, "pid");
  await expect.poll(() => readFile(pidFile, "utf8").catch(() => "")).toMatch(/\d+\n/);

  await agent.send({ type: "cancel", turn, reason: "the user said stop" });
  const end = await agent.next("turn-end");

  expect(end).toMatchObject({ turn, outcome: "cancelled", text: "the user said stop" });
  const pid = Number(await readFile(pidFile, "utf8"));
  await expect.poll(() => isRunning(pid)).toBe(false);
  expect(printed(await agent.shell("echo again"))).toBe("again");
});

test("nothing that was started outlives the agent", async () => {
  await using agent = await AgentProcess.start();
  const { output } = await agent.shell("sleep 1000 & echo $!; setsid sleep 1001 & echo $!");
  const pids = output
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);

  await agent.send({ type: "shutdown" });

  expect(await agent.exit()).toBe(0);
  expect(pids).toHaveLength(2);
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
});

test("a command that is cancelled while its shell still starts does not run", async () => {
  await using folder = await temporaryFolder();
  const options = { workingDirectory: folder.path, environment: { PATH: process.env["PATH"] ?? "" } };
  await using shell = new PersistentShell({ ...options, temporary: folder.path, ownsPidNamespace: false });
  const cancel = new AbortController();

  const call = shell.run("sleep 600", { timeoutMs: 600_000, signal: cancel.signal, onOutput: () => undefined });
  setImmediate(() => cancel.abort());
  const { end } = await call;
  const next = await shell.run("true", {
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });

  expect(end).toEqual({ kind: "cancelled" });
  expect(next.end).toEqual({ kind: "completed", exitCode: 0 });
});

test("a shell that is closed while it starts is ended, and runs nothing", async () => {
  await using folder = await temporaryFolder();
  const options = { workingDirectory: folder.path, environment: { PATH: process.env["PATH"] ?? "" } };
  const shell = new PersistentShell({ ...options, temporary: folder.path, ownsPidNamespace: false });

  const call = shell.run("sleep 600", {
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    onOutput: () => undefined,
  });
  await new Promise((next) => setImmediate(next));
  await shell[Symbol.asyncDispose]();

  expect((await call).end).toEqual({ kind: "cancelled" });
});
