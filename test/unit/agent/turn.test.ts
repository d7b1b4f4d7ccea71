import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { limits } from "../../../src/protocol/limits.ts";
import { AgentProcess } from "../../fixtures/agent/agent-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("the agent says that it is ready, with what the probe found", async () => {
  await using agent = await AgentProcess.start();

  const ready = await agent.next("ready");

  expect(ready.probe).toMatchObject({ uid: process.getuid?.(), seccomp: 2, interfaces: ["lo"] });
});

test.for([
  ["print('no report')", "not JSON"],
  ["raise SystemExit(3)", "Command failed"],
  ["print('{\"uid\": 0}')", "expected"],
] as const)("an agent whose probe fails (%s) says why and ends with 1", async ([program, reason]) => {
  await using folder = await temporaryFolder();
  const probe = join(folder.path, "probe.py");
  await writeFile(probe, program);
  await using agent = await AgentProcess.start({ probe });

  expect(await agent.exit()).toBe(1);
  expect((await agent.next("log")).text).toContain(reason);
  expect(agent.errors).toContain(reason);
});

test("a turn ends with the model's text", async () => {
  await using agent = await AgentProcess.start();

  await agent.send({ type: "turn-start", turn: "t1", resumed: false, tools: [] });
  expect(await agent.next("model-request")).toEqual({
    type: "model-request",
    turn: "t1",
    append: [],
    directory: agent.workspace,
  });
  await agent.send({ type: "model-response", turn: "t1", request: 1, text: "hello", toolCalls: [] });

  expect(await agent.next("turn-end")).toEqual({ type: "turn-end", turn: "t1", outcome: "done", text: "hello" });
});

test("tools run in the order of the calls, and a command sees what the call before it wrote", async () => {
  await using agent = await AgentProcess.start();

  const results = await agent.useTools(
    { name: "shell", input: { command: "sleep 0.2; echo first >> log" } },
    { name: "write_file", input: { path: "second", content: "second\n" } },
    { name: "shell", input: { command: "cat second >> log" } },
    { name: "read_file", input: { path: "log" } },
    { name: "read_file", input: { path: "second" } },
  );

  expect(results.map(({ callId }) => callId)).toEqual(["call-1", "call-2", "call-3", "call-4", "call-5"]);
  expect(results[3]?.output).toBe("     1\tfirst\n     2\tsecond");
  expect(results[4]?.output).toBe("     1\tsecond");
});

test("the host is told when a tool begins", async () => {
  await using agent = await AgentProcess.start();

  await agent.shell("echo hi");

  expect(agent.received).toContainEqual({ type: "progress", turn: "turn-1", text: "shell: echo hi" });
});

test("input that does not match and tools that do not exist are errors that the model can mend", async () => {
  await using agent = await AgentProcess.start();

  const results = await agent.useTools(
    { name: "shell", input: { cmd: "ls" } },
    { name: "read_file", input: { path: "x", offset: 0 } },
    { name: "write_file", input: "text" },
    { name: "browse", input: {} },
  );

  expect(results.every(({ isError }) => isError)).toBe(true);
  expect(results.map(({ output }) => output)).toEqual([
    expect.stringMatching(/^The input of shell is wrong: command: .*; input: Unrecognized key: "cmd"$/),
    expect.stringMatching(/^The input of read_file is wrong: offset: /),
    expect.stringMatching(/^The input of write_file is wrong: input: /),
    "There is no tool browse.",
  ]);
});

test("a message to the chat is sent by the host, and its answer is the tool's result", async () => {
  await using agent = await AgentProcess.start();
  const turn = await agent.beginTurn();

  await agent.callTools(turn, [{ id: "c1", name: "send_message", input: { text: "still at it" } }]);
  const request = await agent.next("tool-request");
  await agent.send({ type: "tool-response", turn, callId: "c1", output: "sent", isError: false });

  expect(request).toMatchObject({ turn, callId: "c1", name: "send_message", input: { text: "still at it" } });
  expect((await agent.next("model-request")).append).toEqual([{ callId: "c1", output: "sent", isError: false }]);
});

test("a turn whose model cannot be asked fails with the reason", async () => {
  await using agent = await AgentProcess.start();
  const turn = await agent.beginTurn();

  await agent.send({ type: "model-failure", turn, request: 1, reason: "the budget of the day is used up" });

  expect(await agent.next("turn-end")).toMatchObject({ outcome: "failed", text: "the budget of the day is used up" });
});

test("a turn that waits for the model or for the host can be cancelled, and the next one works", async () => {
  await using agent = await AgentProcess.start();

  const waiting = await agent.beginTurn();
  await agent.send({ type: "cancel", turn: waiting, reason: "stop" });
  expect(await agent.next("turn-end")).toMatchObject({ turn: waiting, outcome: "cancelled" });
  const sending = await agent.beginTurn();
  await agent.callTools(sending, [{ id: "c1", name: "send_message", input: { text: "hi" } }]);
  await agent.next("tool-request");
  await agent.send({ type: "cancel", turn: sending, reason: "stop" });
  expect(await agent.next("turn-end")).toMatchObject({ turn: sending, outcome: "cancelled" });

  expect(await agent.finishTurn(await agent.beginTurn(), "fine")).toMatchObject({ outcome: "done", text: "fine" });
});

test("answers to a turn that is over change nothing", async () => {
  await using agent = await AgentProcess.start();
  const old = await agent.beginTurn();
  await agent.send({ type: "cancel", turn: old, reason: "stop" });
  await agent.next("turn-end");

  const turn = await agent.beginTurn();
  await agent.send({ type: "model-response", turn: old, request: 1, text: "too late", toolCalls: [] });
  await agent.send({ type: "cancel", turn: old, reason: "too late" });

  expect(await agent.finishTurn(turn, "in time")).toMatchObject({ turn, outcome: "done", text: "in time" });
});

test("a turn that is started again while it runs begins anew, and ends once", async () => {
  await using agent = await AgentProcess.start();
  const turn = await agent.beginTurn();
  await agent.callTools(turn, [{ id: "c1", name: "shell", input: { command: "sleep 1000" } }]);
  await agent.next("progress");

  await agent.send({ type: "turn-start", turn, resumed: true, tools: [] });
  expect((await agent.next("model-request")).append).toEqual([]);
  await agent.send({ type: "model-response", turn, request: 1, text: "resumed", toolCalls: [] });

  expect(await agent.next("turn-end")).toMatchObject({ outcome: "done", text: "resumed" });
  expect(agent.received.filter(({ type }) => type === "turn-end")).toHaveLength(1);
});

test("results that are too long together for one message are shortened until they fit", async () => {
  await using agent = await AgentProcess.start();
  await agent.shell(String.raw`head -c 29000 /dev/zero | tr '\0' '\001' > big`);
  const calls = Array.from({ length: limits.toolResults }, () => ({ name: "shell", input: { command: "cat big" } }));

  const results = await agent.useTools(...calls);

  expect(results).toHaveLength(limits.toolResults);
  expect(results[0]?.output).toMatch(/characters cut[\s\S]*\[exit code 0, /);
  expect(agent.violations).toEqual([]);
});

test("a very long answer is shortened to what a chat message may have", async () => {
  await using agent = await AgentProcess.start();

  const end = await agent.finishTurn(await agent.beginTurn(), "x".repeat(200_000));

  expect(end.outcome).toBe("done");
  expect(end.text.length).toBeLessThanOrEqual(limits.textChars);
});

test("many signs of life in a row do not break the mailbox's rules", async () => {
  await using agent = await AgentProcess.start();
  const calls = Array.from({ length: limits.toolResults }, () => ({ name: "list_files", input: {} }));

  for (let round = 0; round < 6; round += 1) await agent.useTools(...calls);

  expect(agent.violations).toEqual([]);
});

test("messages for another generation are not obeyed", async () => {
  await using agent = await AgentProcess.start({ generation: 6 });

  await expect.poll(() => agent.violations).toEqual(["000000000001.json: generation 6"]);
  await agent.send({ type: "shutdown" });

  await expect.poll(() => agent.errors).toContain("is not for us");
});

test("shutdown ends the process with 0", async () => {
  await using agent = await AgentProcess.start();
  await agent.next("ready");

  await agent.send({ type: "shutdown" });

  expect(await agent.exit()).toBe(0);
});
