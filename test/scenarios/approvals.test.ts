import { expect, test } from "vitest";

import { admins, approvals, asks, bob, card, code, doesAsTold, running } from "../support/asked-calls.ts";
import { jsonLines } from "../support/crabpot.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { setForTest, shareModelHost } from "../support/shared-host.ts";
import { answerApproval, showApproval } from "../../src/operations/approvals/operations.ts";
import { readStatus } from "../../src/operations/host/operations.ts";
import { editSettings } from "../../src/operations/settings/operations.ts";
import { listTurns, showTurn } from "../../src/operations/turns/operations.ts";

/** Runs a command and writes a file, in one answer; then says what it was told. */
const both: ModelScript = ({ toolOutputs }) => {
  if (toolOutputs.length > 0) return { text: toolOutputs.join(" | ") };
  return {
    toolCalls: [
      { name: "shell", input: { command: "echo x > bad" } },
      { name: "write_file", input: { path: "good", content: "x" } },
    ],
  };
};

const hosts = shareModelHost({
  groups: {
    shown: {},
    working: { policy: { tools: { shell: "allow" } } },
    denied: {},
    forbidden: { policy: { tools: { shell: "ask", write_file: "allow" } } },
    stopped: {},
    raced: admins,
    led: admins,
    elsewhere: {},
    over: {},
    killed: {},
    granting: admins,
  },
  config: { ...asks, sessions: { maxHot: 1 } },
  withoutContainers: "all",
  shellHere: true,
});

test("an approved command runs once, exactly as it was shown; until then nothing runs and other groups go on", async () => {
  const { host } = hosts.running;
  const group = hosts.group("shown", running("echo ran >> marks; cat marks"));
  const said = await group.say("@crab do it");

  const asked = await card(group);
  const other = await hosts.group("working", () => ({ text: "working" })).ask("@crab hello");
  const listed = jsonLines((await host.cli("approvals", "list", "--all", "--json")).stdout);
  const found = await host.control.call(readStatus, {});
  const waiting = await host.control.call(listTurns, { group: undefined, state: "running", limit: 20 });
  const allowed = await host.cli("approvals", "allow", asked.code.toLowerCase(), "--json");
  const answer = await group.replyTo(said.id);
  const again = await host.cli("approvals", "deny", asked.code);

  expect(asked.kind).toBe("notice");
  expect(asked.text).toContain("\n```\necho ran >> marks; cat marks\n```\n");
  expect(asked.text).toContain('"Ann"');
  expect(other.text).toBe("working");
  expect(listed).toMatchObject([
    {
      code: asked.code,
      group: "shown",
      tool: "shell",
      input: { command: "echo ran >> marks; cat marks" },
      reason: "tools.shell",
      risk: "medium",
      asker: "http:ann",
      state: "open",
    },
  ]);
  expect(waiting).toMatchObject([{ state: "running", waitsFor: [asked.code] }]);
  const parked = [{ turn: waiting[0]?.id, group: "shown", waitsFor: [asked.code] }];
  expect(found).toMatchObject({ approvals: 1, turns: { running: 1, parked } });
  expect(allowed).toMatchObject({ code: 0 });
  expect(answer.text).toMatch(/^so: ran\n\[exit code 0/);
  expect(await group.readFile("marks")).toBe("ran\n");
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain("already decided");
  const [turn] = await host.control.call(listTurns, { group: "shown", state: undefined, limit: 20 });
  expect(await host.control.call(showTurn, { id: turn?.id ?? "", maxChars: 400 })).toMatchObject({
    turn: { state: "done", attempts: 1 },
    approvals: [{ code: asked.code, state: "allowed", decidedBy: "operator" }],
  });
  expect((await group.events("approval.*")).map((event) => "type" in event && event.type)).toEqual([
    "approval.asked",
    "approval.answered",
    "approval.decided",
    "approval.used",
  ]);
});

test("a denied command does not run, and the model is told by whom and why; what waits with it does run", async () => {
  const group = hosts.group("denied", both);
  const said = await group.say("@crab do it");
  const asked = await card(group);
  expect(await group.readFile("good")).toBe("");

  await group.host.cli("approvals", "deny", asked.code, "--reason", "not today");

  const answer = await group.replyTo(said.id);
  expect(answer.text).toMatch(/denied by owner: not today \| /);
  expect(await group.readFile("good")).toBe("x");
  expect(await group.readFile("bad")).toBe("");
  expect((await group.replies()).map(({ text }) => text)).toContainEqual(
    `The operator has denied shell (${asked.code}): not today`,
  );
});

test("a rule that denies a call which people were asked about takes the question back, and the turn goes on with that", async () => {
  const group = hosts.group("forbidden", both);
  const { control } = group.host;
  const said = await group.say("@crab do it");
  const asked = await card(group);

  const rules = [{ tool: "shell", origin: "web", action: "deny" }];
  await control.call(editSettings, { edits: [{ path: ["groups", "forbidden", "policy", "rules"], value: rules }] });
  const stillOpen = await approvals(group);
  await control.call(editSettings, {
    edits: [{ path: ["groups", "forbidden", "policy", "tools", "shell"], value: "deny" }],
  });
  const answer = await group.replyTo(said.id);
  const late = control.call(answerApproval, { code: asked.code, decision: "allow" });

  await expect(late).rejects.toThrow("already decided");
  expect(stillOpen).toMatchObject([{ state: "open" }]);
  expect(answer.text).toContain(
    "policy has changed since this was asked: tools.shell of group forbidden denies it now.",
  );
  expect((await group.replies()).map(({ text }) => text)).toContainEqual(
    `The policy has denied shell (${asked.code}): tools.shell of group forbidden denies it now`,
  );
  expect(await group.readFile("good")).toBe("x");
  expect(await group.readFile("bad")).toBe("");
});

test("a stop ends a turn that waits for people, and nobody can allow its command anymore", async () => {
  const group = hosts.group("stopped", running("echo x > bad"));
  const said = await group.say("@crab do it");
  const asked = await card(group);
  await group.say("@crab and hurry");
  await expect
    .poll(async () => (await group.replies()).map(({ text }) => text).join("\n"))
    .toContain(`when ${asked.code} has been answered`);
  await group.say("@crab please");

  const stopped = await group.ask("/stop");

  expect(stopped.inReplyTo).toContain(said.id);
  expect(await group.host.cli("approvals", "allow", asked.code)).toMatchObject({ code: 1 });
  expect(await approvals(group)).toMatchObject([{ state: "cancelled" }]);
  expect((await group.replies()).filter(({ text }) => text.includes("I go on when"))).toHaveLength(1);
  expect(await group.readFile("bad")).toBe("");
});

test("answers by HTTP and in the chat at the same moment: one counts, the other is told so, and the command runs at most once", async () => {
  const group = hosts.group("raced", running("echo ran | tee -a marks"));
  const { host } = group;
  for (const [round, decision] of (["deny", "allow", "deny"] as const).entries()) {
    await group.ask("/new");
    const after = (await group.replies()).at(-1)?.seq;
    const marks = await group.readFile("marks");
    const said = await group.say("@crab do it");
    const asked = await card(group, after);

    const [byHttp, inChat] = await Promise.all([
      fetch(`${host.url}/v1/approvals/${asked.code}`, {
        method: "POST",
        headers: host.headers,
        body: JSON.stringify({ decision }),
      }),
      group.ask(`/${decision === "deny" ? "approve" : "deny"} ${asked.code}`, bob),
    ]);
    const answer = await group.replyTo(said.id);

    const httpWon = byHttp.status === 200;
    expect([byHttp.status, inChat.text.includes("already decided")]).toEqual(httpWon ? [200, true] : [409, false]);
    const isAllowed = httpWon === (decision === "allow");
    expect(answer.text).toContain(isAllowed ? "[exit code 0" : "denied by");
    expect(await group.readFile("marks")).toBe(isAllowed ? `${marks}ran\n` : marks);
    const kept = await host.control.call(showApproval, { code: asked.code });
    expect([round, kept.state]).toEqual([round, isAllowed ? "allowed" : "denied"]);
  }
});

test("who has the role answers in the chat that was asked, with the code; nobody else, nowhere else", async () => {
  const group = hosts.group("led", running("echo ran >> marks"));
  const other = hosts.group("elsewhere", () => ({ text: "nothing" }));
  const said = await group.say("@crab do it");
  const asked = await card(group);

  const byMember = await group.ask(`/approve ${asked.code}`);
  const elsewhere = await other.ask(`/approve ${asked.code}`, bob);
  const guessed = await group.ask("/approve AAAAAA", bob);
  const status = await group.ask("/status");
  const unclear = await group.ask(`/approve ${asked.code} forever`, bob);
  const forwarded = { ...bob, id: "f", group: "led", text: `/approve ${asked.code}`, forwarded: true };
  expect((await group.host.post(forwarded)).status).toBe(202);
  expect(await approvals(group)).toMatchObject([{ state: "open", votes: 0 }]);
  const byAdmin = await group.ask(`/approve ${asked.code.toLowerCase()}`, bob);
  const answer = await group.replyTo(said.id);
  const again = await group.ask(`/deny ${asked.code} no`, bob);

  expect(asked.text).toContain(`Answer (admin or higher): /approve ${asked.code}`);
  expect(status.text).toContain(`Waiting for people to answer ${asked.code}.`);
  expect(byMember.text).toContain("is for admins to answer");
  expect([elsewhere.text, guessed.text]).toEqual(
    Array(2).fill("Unknown code. Use: /approve CODE [once|session|day|always]"),
  );
  expect(unclear.text).toBe("Use: /approve CODE [once|session|day|always]");
  expect(byAdmin.text).toBe(`"Bob" has allowed shell (${asked.code}) once.`);
  expect(answer.text).toContain("[exit code 0");
  expect(again.text).toBe(`${asked.code} was already decided: allowed by "Bob".`);
  expect(await group.readFile("marks")).toBe("ran\n");
});

test("over HTTP, a program that has the token lists what waits and answers it; what is settled is told as such", async () => {
  const group = hosts.group("over", doesAsTold);
  const { host } = group;
  const answerWith = async (of: string, body: object) => {
    const url = `${host.url}/v1/approvals/${of}`;
    const answer = await fetch(url, { method: "POST", headers: host.headers, body: JSON.stringify(body) });
    return { status: answer.status, ...((await answer.json()) as { error?: { code: string; path?: string } }) };
  };
  const soon = await setForTest(host, "approvals.expiresMinutes", 1 / 60);
  const first = await group.say("@crab run echo ran | tee -a marks");
  const expired = await card(group);
  const unanswered = await group.replyTo(first.id);
  await soon[Symbol.asyncDispose]();
  expect(await answerWith(expired.code, { decision: "allow" })).toMatchObject({
    status: 410,
    error: { code: "expired" },
  });
  const after = (await group.replies()).at(-1)?.seq;
  const second = await group.say("@crab run echo ran | tee -a marks");
  const asked = await card(group, after);

  const unauthorized = await fetch(`${host.url}/v1/approvals`);
  const listed = (await (await host.get("/v1/approvals")).json()) as { approvals: object[] };

  expect(unanswered.text).toBe("so: Error: nobody answered within 1 seconds");
  expect(unauthorized.status).toBe(401);
  expect(listed.approvals).toMatchObject([{ code: asked.code, state: "open", group: "over" }]);
  expect(await answerWith("AAAAAA", { decision: "allow" })).toMatchObject({
    status: 404,
    error: { code: "not_found" },
  });
  expect(await answerWith(asked.code, { decision: "maybe" })).toMatchObject({
    status: 400,
    error: { path: "decision" },
  });
  expect(await answerWith(asked.code, { decision: "allow", scope: "once" })).toMatchObject({
    status: 200,
    state: "allowed",
  });
  expect(await answerWith(asked.code, { decision: "deny" })).toMatchObject({
    status: 409,
    error: { code: "conflict" },
  });
  expect((await group.replyTo(second.id)).text).toContain("[exit code 0");
  expect(await group.readFile("marks")).toBe("ran\n");
});

test("killed while it waits, with its agent gone, the turn goes on where it was when people have answered", async () => {
  const group = hosts.group("killed", running("echo ran >> marks"));
  const { host } = group;
  const said = await group.say("@crab do it");
  const asked = await card(group);
  await host.end("SIGKILL");
  const offline = await host.cli("approvals", "list", "--group", "killed", "--json");
  await host.boot();
  await host.end("SIGTERM");
  await host.boot();

  await host.cli("approvals", "allow", asked.code);

  expect((await group.replyTo(said.id)).text).toContain("[exit code 0");
  expect(jsonLines(offline.stdout)).toMatchObject([{ code: asked.code, state: "open" }]);
  expect(await group.readFile("marks")).toBe("ran\n");
  expect((await group.replies()).filter(({ text }) => code.test(text))).toHaveLength(1);
});

test("what is allowed for longer covers the exact command only, until it is revoked; codes cannot be guessed", async () => {
  const group = hosts.group("granting", doesAsTold);
  const { host } = group;
  const first = await group.say("@crab run echo push");
  const asked = await card(group);
  await group.ask(`/approve ${asked.code} always`, bob);
  await group.replyTo(first.id);

  const second = await group.ask("@crab run echo push");
  await host.end("SIGTERM");
  await host.boot();
  const third = await group.ask("@crab run echo push");
  await group.say("@crab run echo push --force");
  const forced = await card(group, third.seq);
  await group.ask(`/deny ${forced.code}`, bob);
  const [grant] = (await approvals(group)).filter((row) => "id" in row);
  await host.cli("approvals", "revoke", String(grant?.id));
  const after = await group.replies();
  await group.say("@crab run echo push");
  const askedAgain = await card(group, after.at(-1)?.seq);
  const guesses = [];
  for (const guess of ["AAAAAA", "BBBBBB", "CCCCCC", "DDDDDD", "EEEEEE", askedAgain.code]) {
    guesses.push((await group.ask(`/deny ${guess}`, bob)).text);
  }

  expect([second.text, third.text]).toEqual([expect.stringContaining("so: push"), expect.stringContaining("so: push")]);
  expect(grant).toMatchObject({ group: "granting", tool: "shell", scope: "always", input: { command: "echo push" } });
  expect(forced.text).toContain("echo push --force");
  expect(guesses.at(-1)).toBe("Too many wrong codes. Try again in five minutes.");
  expect((await host.cli("approvals", "deny", askedAgain.code)).code).toBe(0);
  const used = await group.events("approval.used");
  expect(used.map((event) => "data" in event && (event.data as { grant?: string }).grant !== undefined)).toEqual([
    false,
    true,
    true,
  ]);
});

test("what people were asked and have answered is on record, and the record is whole", async () => {
  expect(await hosts.running.host.cli("audit", "verify")).toMatchObject({ code: 0 });
});
