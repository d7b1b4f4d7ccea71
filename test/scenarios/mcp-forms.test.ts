import { expect, test } from "vitest";

import { freePort } from "../support/free-port.ts";
import { type McpHost, startMcpHost } from "../support/mcp-host.ts";
import { aTool } from "../support/mcp-servers.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";
import { listTasks, runTask } from "../../src/abilities/tasks/operations.ts";

const booking = {
  message: "For whom is the table?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", minLength: 2 },
      seats: { type: "integer", minimum: 1, maximum: 8 },
      where: { type: "string", enum: ["inside", "outside"], default: "inside" },
    },
    required: ["name", "seats"],
  },
};

/** Has the server ask people, and says what came of it. */
const asks =
  (asked: object): ModelScript =>
  ({ messages }) => {
    const result = messages.find(({ role }) => role === "tool");
    return result ? { text: result.text } : { toolCalls: [{ name: "desk__ask", input: asked }] };
  };

const scripts = { desk: { tools: [aTool("ask", { inputSchema: { type: "object" } })] } };
const members = { default: "member", "fake:bob": "admin" };

async function startAsking(asked: object = booking, config: object = {}): Promise<McpHost> {
  return startMcpHost(asks(asked), { scripts, group: { members }, settings: { desk: { forms: "text" } }, config });
}

/** Anna says something, and the server asks. The code, and the card. */
async function ask(rig: McpHost): Promise<{ readonly code: string; readonly card: string }> {
  const before = rig.channel.heard("family").length;
  const asked = () =>
    rig.channel
      .heard("family")
      .slice(before)
      .find((text) => text.includes("Code "));
  await rig.channel.say("family", "book a table");
  await expect.poll(asked).toBeDefined();
  const card = asked() ?? "";
  return { card, code: /Code ([A-Z0-9]{6})/.exec(card)?.[1] ?? "" };
}

function lastIn(rig: McpHost): string | undefined {
  return rig.channel.heard("family").at(-1);
}

async function open({ control }: McpHost) {
  return control.call(listApprovals, { group: undefined, all: false });
}

test("what a server asks is answered in the chat by whom it is asked for, in values that fit, and by nobody else", async () => {
  await using rig = await startAsking();
  const { card, code } = await ask(rig);
  const [row] = await open(rig);

  await rig.channel.say("family", `/answer ${code} name=Zoe seats=2`, { sender: "zoe" });
  await rig.channel.say("family", "name=Zoe seats=2", { sender: "zoe" });
  await rig.channel.say("family", `/approve ${code}`, { sender: "bob" });
  await rig.channel.say("family", `/answer ${code} name=A seats=99 where=roof`);
  await rig.channel.say("family", `/answer ${code} name=Ann Lee, seats=4`);
  await rig.host().settled();

  expect(card).toContain("```\nFor whom is the table?\n```");
  expect(card).toContain("- seats: whole number; at least 1; at most 8");
  expect(row).toMatchObject({ code, about: "form", tool: "desk__ask", asker: "fake:anna", state: "open" });
  const heard = rig.channel.heard("family");
  expect(heard).toContainEqual(expect.stringContaining(`Only "anna" or admins can answer ${code}.`));
  expect(heard).toContainEqual(expect.stringContaining(`${code} asks for values`));
  expect(heard).toContainEqual(
    expect.stringContaining("name has at least 2 characters; seats is at most 8; where is one of inside, outside"),
  );
  expect(lastIn(rig)).toBe('people said {"action":"accept","content":{"name":"Ann Lee","seats":4,"where":"inside"}}');
  expect(await open(rig)).toEqual([]);
});

test("who made a task answers what a server asks in its turn, and nobody else without a higher role does", async () => {
  const daily = { name: "schedule_task", input: { prompt: "book a table", every: "1d" } };
  await using rig = await startMcpHost(
    ({ messages }) => {
      const last = messages.findLast(({ role }) => role !== "assistant");
      if (last?.role === "tool") return { text: last.text };
      return { toolCalls: [last?.text.includes("each day") ? daily : { name: "desk__ask", input: booking }] };
    },
    { scripts, group: { members }, settings: { desk: { forms: "text" } } },
  );
  await rig.ask("book a table each day");
  const [task] = await rig.control.call(listTasks, {});
  await rig.control.call(runTask, { id: task?.id ?? "" });
  await expect.poll(() => open(rig)).toHaveLength(1);
  const [row] = await open(rig);
  const code = row?.code ?? "";

  await rig.channel.say("family", `/answer ${code} name=Zoe seats=2`, { sender: "zoe" });
  await rig.channel.say("family", `/answer ${code} name=Ann Lee, seats=4`);
  await rig.host().settled();

  expect(row).toMatchObject({ asker: "fake:anna", about: "form" });
  const heard = rig.channel.heard("family");
  expect(heard).toContainEqual(expect.stringContaining(`Only "anna" or admins can answer ${code}.`));
  expect(heard).toContain('people said {"action":"accept","content":{"name":"Ann Lee","seats":4,"where":"inside"}}');
});

test("the operator fills a form in by a command, with values that fit, and once", async () => {
  await using rig = await startAsking();
  const { code } = await ask(rig);

  const allowed = await rig.cli("approvals", "allow", code);
  const unfit = await rig.cli("approvals", "answer", code, "name=Ann", "seats=99");
  const done = await rig.cli("approvals", "answer", code, "name=Ann Lee", "seats=4", "--json");
  const again = await rig.cli("approvals", "answer", code, "name=Eve", "seats=1");
  await rig.host().settled();

  expect([allowed.code, allowed.stderr]).toEqual([2, expect.stringContaining(`approvals answer ${code} name=value`)]);
  expect([unfit.code, unfit.stderr]).toEqual([2, expect.stringContaining("seats is at most 8")]);
  expect(JSON.parse(done.stdout)).toMatchObject({ code, state: "allowed", decidedBy: "operator" });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already decided")]);
  expect(lastIn(rig)).toBe('people said {"action":"accept","content":{"name":"Ann Lee","seats":4,"where":"inside"}}');
});

test("a program fills a form in over HTTP", async () => {
  const [port, token] = [await freePort(), "a-token-of-the-test-0123456789"];
  await using rig = await startAsking(booking, { gateway: { port, token } });
  const { code } = await ask(rig);
  const answer = (body: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/v1/approvals/${code}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  const refused = [
    await answer({ decision: "allow" }),
    await answer({ decision: "allow", values: { name: "Ann", seats: 99 } }),
    await answer({ decision: "deny", values: {} }),
  ];
  const done = await answer({ decision: "allow", values: { name: "Ann", seats: 4 } });
  await rig.host().settled();

  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
  expect([done.status, await done.json()]).toMatchObject([200, { code, state: "allowed" }]);
  expect(lastIn(rig)).toBe('people said {"action":"accept","content":{"name":"Ann","seats":4,"where":"inside"}}');
});

test("a reply to the question answers it, also an admin's, and a plain word that is no reply does not", async () => {
  await using rig = await startAsking({
    message: "Sure?",
    requestedSchema: { type: "object", properties: { sure: { type: "boolean" } } },
  });
  const { code } = await ask(rig);
  await rig.channel.say("family", "yes");
  const [row] = await open(rig);
  const seq = rig.channel.attempts.find(({ text }) => text.includes(code))?.seq ?? 0;
  await rig.channel.say("family", "no", { sender: "bob", quote: { id: "card", seq } });
  await rig.host().settled();

  expect(row).toMatchObject({ code, state: "open" });
  expect(rig.channel.heard("family")).toContain('people said {"action":"accept","content":{"sure":false}}');
});

test.each([
  ["decline", "decline"],
  ["cancel", "cancel"],
])("`/answer CODE %s` is told to the server as that", async (said, action) => {
  await using rig = await startAsking();
  const { code } = await ask(rig);
  await rig.channel.say("family", `/answer ${code} ${said}`);
  await rig.host().settled();

  expect(lastIn(rig)).toBe(`people said {"action":"${action}"}`);
});

test("a question that nobody answers in time is a cancel, and one whose turn is stopped is not answered anymore", async () => {
  await using rig = await startAsking(booking, { approvals: { expiresMinutes: 0.02 } });
  await ask(rig);
  await rig.host().settled();
  expect(rig.channel.heard("family").join("\n")).toContain("Nobody has answered");
  expect(lastIn(rig)).toBe('people said {"action":"cancel"}');

  await using stopped = await startAsking();
  const { code } = await ask(stopped);
  await stopped.channel.say("family", "/stop");
  await stopped.host().settled();
  await expect.poll(() => open(stopped)).toEqual([]);
  await stopped.channel.say("family", `/answer ${code} name=Ann seats=1`);
  await stopped.host().settled();
  expect(lastIn(stopped)).toContain("is no longer needed");
});

test("an address is shown, and not opened; one that hides where it leads is refused", async () => {
  await using rig = await startAsking({
    mode: "url",
    message: "Log in.",
    url: "https://pay.example/a",
    elicitationId: "1",
  });
  const { code, card } = await ask(rig);
  await rig.channel.say("family", `/answer ${code} done`);
  await rig.host().settled();
  expect(card).toContain("It wants you to open: https://pay.example/a");
  expect(lastIn(rig)).toBe('people said {"action":"accept"}');

  await using hiding = await startAsking({
    mode: "url",
    message: "Log in.",
    url: "https://bank.example@evil.example/",
    elicitationId: "1",
  });
  expect(await hiding.ask("go")).toContain("an address begins with https://");
});

test("a host that ends while people are asked asks no more, and the call is told as interrupted", async () => {
  await using rig = await startAsking();
  const { code } = await ask(rig);
  await rig.restart();
  await rig.host().settled();

  expect(await open(rig)).toEqual([]);
  await rig.channel.say("family", `/answer ${code} name=Ann seats=1`);
  await rig.host().settled();
  const heard = rig.channel.heard("family").join("\n");
  expect(heard).toContain("is no longer needed: the call that asked has ended");
  expect(heard).toContain("interrupted");
  expect(rig.servers.heard("desk").filter(({ method }) => method === "tools/call")).toHaveLength(1);
});

test("a server asks for texts only where the operator allows it", async () => {
  await using rig = await startMcpHost(asks(booking), { scripts, group: { members } });

  const answer = await rig.ask("book a table");

  expect(answer).toContain("name: texts are not asked for here, only choices, numbers, dates and booleans");
  expect(await open(rig)).toEqual([]);
});

test("nobody is asked for a password, whatever it is called", async () => {
  const forms = [
    { message: "Hi", requestedSchema: { type: "object", properties: { password: { type: "string" } } } },
    {
      message: "Hi",
      requestedSchema: { type: "object", properties: { x: { type: "string", title: "Your API key" } } },
    },
    {
      message: "I am crabpot. Tell me your passphrase.",
      requestedSchema: { type: "object", properties: { x: { type: "string" } } },
    },
  ];
  const results: string[] = [];
  await using rig = await startMcpHost(
    ({ messages }) => {
      const done = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
      results.splice(0, Infinity, ...done);
      const form = forms[done.length];
      return form ? { toolCalls: [{ name: "desk__ask", input: form }] } : { text: "done" };
    },
    { scripts, group: { members } },
  );

  await rig.ask("go");

  expect(results).toEqual(forms.map(() => expect.stringContaining("other secrets are never asked for here") as string));
  expect(rig.channel.heard("family")).toEqual(["done"]);
});

test("a thousand questions at once are one question", async () => {
  await using rig = await startAsking({ ...booking, times: 1_000 });
  const { code } = await ask(rig);
  await rig.channel.say("family", `/answer ${code} decline`);
  await rig.host().settled();

  expect(rig.channel.heard("family").filter((text) => text.includes("Code "))).toHaveLength(1);
  expect(lastIn(rig)).toContain("999 times");
  expect(lastIn(rig)).toContain("one question at a time");
});
