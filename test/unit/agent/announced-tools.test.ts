import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { AnnouncedTool } from "../../../src/protocol/tools.ts";
import { AgentProcess } from "../../fixtures/agent/agent-process.ts";

const here = { runs: "container" as const, timeoutSeconds: 60, resolvePaths: [] };
const there = { runs: "host" as const, timeoutSeconds: 60, resolvePaths: [] };

/** Lets the model make one call in a turn that has these tools. */
async function callWith(agent: AgentProcess, tools: AnnouncedTool[], call: { name: string; input: unknown }) {
  await agent.send({ type: "turn-start", turn: "t", resumed: false, tools });
  await agent.next("model-request");
  await agent.send({ type: "model-response", turn: "t", request: 1, text: "", toolCalls: [{ id: "c", ...call }] });
}

test("a tool that the host has not announced cannot be called, although the agent has it", async () => {
  await using agent = await AgentProcess.start();

  await callWith(agent, [{ ...here, name: "read_file" }], { name: "shell", input: { command: "true" } });

  const { append } = await agent.next("model-request");
  expect(append).toEqual([{ callId: "c", output: "There is no tool shell.", isError: true }]);
});

test("a tool of the container that this agent does not have is an error that says so", async () => {
  await using agent = await AgentProcess.start();

  await callWith(agent, [{ ...here, name: "browse" }], { name: "browse", input: {} });

  const { append } = await agent.next("model-request");
  expect(append).toEqual([{ callId: "c", output: "This container has no tool browse.", isError: true }]);
});

test("any tool of the host is passed on as it was called", async () => {
  await using agent = await AgentProcess.start();

  await callWith(agent, [{ ...there, name: "weather" }], { name: "weather", input: { path: "x", deep: [{ a: 1 }] } });

  expect(await agent.next("tool-request")).toMatchObject({ name: "weather", input: { path: "x", deep: [{ a: 1 }] } });
});

test("fields that the host declares as paths are made absolute, with links followed", async () => {
  await using agent = await AgentProcess.start();
  await mkdir(join(agent.workspace, "real"));
  await writeFile(join(agent.workspace, "real/file"), "");
  await symlink("real", join(agent.workspace, "link"));

  const tools = [{ ...there, name: "send", resolvePaths: ["path"] }];
  await callWith(agent, tools, { name: "send", input: { path: "link/file", note: "link/file" } });

  const path = join(agent.workspace, "real/file");
  expect((await agent.next("tool-request")).input).toEqual({ path, note: "link/file" });
});

test("a path that leads nowhere is told to the model without asking the host", async () => {
  await using agent = await AgentProcess.start();

  const tools = [{ ...there, name: "send", resolvePaths: ["path"] }];
  await callWith(agent, tools, { name: "send", input: { path: "nowhere" } });

  const { append } = await agent.next("model-request");
  expect(append[0]).toMatchObject({ isError: true, output: expect.stringMatching(/^send failed: ENOENT/) as string });
  expect(agent.received.filter(({ type }) => type === "tool-request")).toEqual([]);
});

test("a tool that takes longer than the host says is given up, and the next call works", async () => {
  await using agent = await AgentProcess.start();

  await callWith(agent, [{ ...here, name: "shell", timeoutSeconds: 1 }], {
    name: "shell",
    input: { command: "sleep 1000", timeout_s: 900 },
  });

  const { append } = await agent.next("model-request");
  expect(append[0]?.isError).toBe(true);
  expect(append[0]?.output).toContain("shell timed out after 1 s");
  await agent.send({ type: "model-response", turn: "t", request: 2, text: "done", toolCalls: [] });
  await agent.next("turn-end");
  expect((await agent.shell("echo back")).output).toMatch(/^back\n/);
});
