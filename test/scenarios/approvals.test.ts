import { expect, test } from "vitest";

import { approvals, asks, bob, card, code, running, withBob } from "../support/asked-calls.ts";
import { jsonLines } from "../support/crabpot.ts";
import { groupOf, startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";

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

/** Runs what it was told last. */
const doesAsTold: ModelScript = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: `so: ${last.text}` };
  const [, command = ""] = /run ([^<\n]*)/.exec(last?.text ?? "") ?? [];
  return { toolCalls: [{ name: "shell", input: { command } }] };
};

test("an approved command runs once, exactly as it was shown; until then nothing runs and other groups go on", async () => {
  const marks = running("echo ran >> marks; cat marks");
  await using home = await startModelHost(
    (request) => (groupOf(request) === "work" ? { text: "working" } : marks(request)),
    {
      groups: { family: {}, work: { policy: { tools: { shell: "allow" } } } },
      config: { ...asks, sessions: { maxHot: 1 } },
    },
  );
  const { host } = home;
  const said = await host.say("family", "@crab do it");

  const asked = await card(host);
  const other = await host.ask("work", "@crab hello");
  const listed = await approvals(host);
  const status = await host.cli("status", "--json");
  const running1 = jsonLines((await host.cli("turns", "list", "--state", "running", "--json")).stdout);
  const allowed = await host.cli("approvals", "allow", asked.code.toLowerCase(), "--json");
  const answer = await host.replyTo(said.id);
  const again = await host.cli("approvals", "deny", asked.code);

  expect(asked.kind).toBe("notice");
  expect(asked.text).toContain("\n```\necho ran >> marks; cat marks\n```\n");
  expect(asked.text).toContain('"Ann"');
  expect(other.text).toBe("working");
  expect(listed).toMatchObject([
    {
      code: asked.code,
      group: "family",
      tool: "shell",
      input: { command: "echo ran >> marks; cat marks" },
      reason: "tools.shell",
      risk: "medium",
      asker: "http:ann",
      state: "open",
    },
  ]);
  expect(running1).toMatchObject([{ state: "running", waitsFor: [asked.code] }]);
  const parked = [{ turn: running1[0]?.["id"], group: "family", waitsFor: [asked.code] }];
  expect(JSON.parse(status.stdout)).toMatchObject({ approvals: 1, turns: { running: 1, parked } });
  expect(allowed).toMatchObject({ code: 0 });
  expect(answer.text).toMatch(/^so: ran\n\[exit code 0/);
  expect(await host.readGroupFile("family", "marks")).toBe("ran\n");
  expect(again).toMatchObject({ code: 1 });
  expect(again.stderr).toContain("already decided");
  const [turn] = jsonLines((await host.cli("turns", "list", "--group", "family", "--json")).stdout);
  const shown = JSON.parse((await host.cli("turns", "show", String(turn?.["id"]), "--json")).stdout) as object;
  expect(shown).toMatchObject({
    turn: { state: "done", attempts: 1 },
    approvals: [{ code: asked.code, state: "allowed", decidedBy: "operator" }],
  });
  const types = jsonLines((await host.cli("events", "tail", "--after", "0", "--type", "approval.*", "--json")).stdout);
  expect(types.map(({ type }) => type)).toEqual([
    "approval.asked",
    "approval.answered",
    "approval.decided",
    "approval.used",
  ]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});

test("a denied command does not run, and the model is told by whom and why; what waits with it does run", async () => {
  await using home = await startModelHost(both, { config: asks });
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);
  expect(await host.readGroupFile("family", "good")).toBe("");

  await host.cli("approvals", "deny", asked.code, "--reason", "not today");

  const answer = await host.replyTo(said.id);
  expect(answer.text).toMatch(/denied by owner: not today \| /);
  expect(await host.readGroupFile("family", "good")).toBe("x");
  expect(await host.readGroupFile("family", "bad")).toBe("");
  expect((await host.replies()).map(({ text }) => text)).toContainEqual(
    `The operator has denied shell (${asked.code}): not today`,
  );
});

test("a rule that denies a call which people were asked about takes the question back, and the turn goes on with that", async () => {
  await using home = await startModelHost(both, {
    groups: { family: { policy: { tools: { shell: "ask", write_file: "allow" } } } },
  });
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);

  await host.cli("config", "set", "groups.family.policy.rules", "[{ tool: shell, origin: web, action: deny }]");
  const stillOpen = await approvals(host);
  await host.cli("config", "set", "groups.family.policy.tools.shell", "deny");
  const answer = await host.replyTo(said.id);
  const late = await host.cli("approvals", "allow", asked.code);

  expect(stillOpen).toMatchObject([{ state: "open" }]);
  expect(answer.text).toContain("policy has changed since this was asked: tools.shell of group family denies it now.");
  expect((await host.replies()).map(({ text }) => text)).toContainEqual(
    `The policy has denied shell (${asked.code}): tools.shell of group family denies it now`,
  );
  expect(late.stderr).toContain("already decided");
  expect(await host.readGroupFile("family", "good")).toBe("x");
  expect(await host.readGroupFile("family", "bad")).toBe("");
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});

test("a stop ends a turn that waits for people, and nobody can allow its command any more", async () => {
  await using home = await startModelHost(running("echo x > bad"), { config: asks });
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);
  await host.say("family", "@crab and hurry");
  await expect
    .poll(async () => (await host.replies()).map(({ text }) => text).join("\n"))
    .toContain(`when ${asked.code} has been answered`);
  await host.say("family", "@crab please");

  const stopped = await host.ask("family", "/stop");

  expect(stopped.inReplyTo).toContain(said.id);
  expect(await host.cli("approvals", "allow", asked.code)).toMatchObject({ code: 1 });
  expect(await approvals(host)).toMatchObject([{ state: "cancelled" }]);
  expect((await host.replies()).filter(({ text }) => text.includes("I go on when"))).toHaveLength(1);
  expect(await host.readGroupFile("family", "bad")).toBe("");
});

test("killed while it waits, with its container gone, the turn goes on where it was when people have answered", async () => {
  await using home = await startModelHost(running("echo ran >> marks"), { config: asks });
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);
  await host.end("SIGKILL");
  await host.removeContainers();
  const offline = await approvals(host);
  await host.boot();
  await host.end("SIGTERM");
  await host.boot();

  await host.cli("approvals", "allow", asked.code);

  expect((await host.replyTo(said.id)).text).toContain("[exit code 0");
  expect(offline).toMatchObject([{ code: asked.code, state: "open" }]);
  expect(await host.readGroupFile("family", "marks")).toBe("ran\n");
  expect((await host.replies()).filter(({ text }) => code.test(text))).toHaveLength(1);
});

test("answers by HTTP and in the chat at the same moment: one counts, the other is told so, and the command runs at most once", async () => {
  await using home = await startModelHost(running("echo ran | tee -a marks"), withBob);
  const { host } = home;
  for (const [round, decision] of (["deny", "allow", "deny"] as const).entries()) {
    await host.ask("family", "/new");
    const after = (await host.replies()).at(-1)?.seq;
    const marks = await host.readGroupFile("family", "marks");
    const said = await host.say("family", "@crab do it");
    const asked = await card(host, after);

    const [byHttp, inChat] = await Promise.all([
      fetch(`${host.url}/v1/approvals/${asked.code}`, {
        method: "POST",
        headers: host.headers,
        body: JSON.stringify({ decision }),
      }),
      host.ask("family", `/${decision === "deny" ? "approve" : "deny"} ${asked.code}`, bob),
    ]);
    const answer = await host.replyTo(said.id);

    const httpWon = byHttp.status === 200;
    expect([byHttp.status, inChat.text.includes("already decided")]).toEqual(httpWon ? [200, true] : [409, false]);
    const isAllowed = httpWon === (decision === "allow");
    expect(answer.text).toContain(isAllowed ? "[exit code 0" : "denied by");
    expect(await host.readGroupFile("family", "marks")).toBe(isAllowed ? `${marks}ran\n` : marks);
    const [kept] = (await approvals(host)).filter(({ code: of }) => of === asked.code);
    expect([round, kept?.["state"]]).toEqual([round, isAllowed ? "allowed" : "denied"]);
  }
});

test("who has the role answers in the chat that was asked, with the code; nobody else, nowhere else", async () => {
  await using home = await startModelHost(running("echo ran >> marks"), withBob);
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);

  const byMember = await host.ask("family", `/approve ${asked.code}`);
  const elsewhere = await host.ask("other", `/approve ${asked.code}`, bob);
  const guessed = await host.ask("family", "/approve AAAAAA", bob);
  const status = await host.ask("family", "/status");
  const unclear = await host.ask("family", `/approve ${asked.code} forever`, bob);
  const forwarded = { ...bob, id: "f", group: "family", text: `/approve ${asked.code}`, forwarded: true };
  expect((await host.post(forwarded)).status).toBe(202);
  expect(await approvals(host)).toMatchObject([{ state: "open", votes: 0 }]);
  const byAdmin = await host.ask("family", `/approve ${asked.code.toLowerCase()}`, bob);
  const answer = await host.replyTo(said.id);
  const again = await host.ask("family", `/deny ${asked.code} no`, bob);

  expect(asked.text).toContain(`Answer (admin or higher): /approve ${asked.code}`);
  expect(status.text).toContain(`Waits for people to answer ${asked.code}.`);
  expect(byMember.text).toContain("is for admins to answer");
  expect([elsewhere.text, guessed.text]).toEqual(
    Array(2).fill("There is no such code here. Write: /approve CODE [once|session|day|always]"),
  );
  expect(unclear.text).toBe("Write: /approve CODE [once|session|day|always]");
  expect(byAdmin.text).toBe(`"Bob" has allowed shell (${asked.code}) once.`);
  expect(answer.text).toContain("[exit code 0");
  expect(again.text).toBe(`${asked.code} was already decided: allowed by "Bob".`);
  expect(await host.readGroupFile("family", "marks")).toBe("ran\n");
});

test("what is allowed for longer covers the exact command only, until it is revoked; codes cannot be guessed", async () => {
  await using home = await startModelHost(doesAsTold, withBob);
  const { host } = home;
  const first = await host.say("family", "@crab run echo push");
  const asked = await card(host);
  await host.ask("family", `/approve ${asked.code} always`, bob);
  await host.replyTo(first.id);

  const second = await host.ask("family", "@crab run echo push");
  await host.end("SIGTERM");
  await host.boot();
  const third = await host.ask("family", "@crab run echo push");
  const before = await host.replies();
  await host.say("family", "@crab run echo push --force");
  const forced = await card(host, before.at(-1)?.seq);
  await host.ask("family", `/deny ${forced.code}`, bob);
  const [grant] = (await approvals(host)).filter((row) => "id" in row);
  await host.cli("approvals", "revoke", String(grant?.["id"]));
  const after = await host.replies();
  await host.say("family", "@crab run echo push");
  const askedAgain = await card(host, after.at(-1)?.seq);
  const guesses = [];
  for (const guess of ["AAAAAA", "BBBBBB", "CCCCCC", "DDDDDD", "EEEEEE", askedAgain.code]) {
    guesses.push((await host.ask("family", `/deny ${guess}`, bob)).text);
  }

  expect([second.text, third.text]).toEqual([expect.stringContaining("so: push"), expect.stringContaining("so: push")]);
  expect(grant).toMatchObject({ group: "family", tool: "shell", scope: "always", input: { command: "echo push" } });
  expect(forced.text).toContain("echo push --force");
  expect(guesses.at(-1)).toBe("Too many wrong codes. Try again in five minutes.");
  expect((await host.cli("approvals", "deny", askedAgain.code)).code).toBe(0);
  const used = jsonLines(
    (await host.cli("events", "tail", "--after", "0", "--type", "approval.used", "--json")).stdout,
  );
  expect(used.map(({ data }) => (data as { grant?: string }).grant !== undefined)).toEqual([false, true, true]);
});

test("over HTTP, a program that has the token lists what waits and answers it; what is settled is told as such", async () => {
  await using home = await startModelHost(doesAsTold, {
    config: { ...asks, approvals: { expiresMinutes: 0.05 } },
  });
  const { host } = home;
  const answerWith = async (of: string, body: object) => {
    const url = `${host.url}/v1/approvals/${of}`;
    const answer = await fetch(url, { method: "POST", headers: host.headers, body: JSON.stringify(body) });
    return { status: answer.status, ...((await answer.json()) as { error?: { code: string; path?: string } }) };
  };
  const first = await host.say("family", "@crab run echo ran | tee -a marks");
  const expired = await card(host);
  const unanswered = await host.replyTo(first.id);
  expect(await answerWith(expired.code, { decision: "allow" })).toMatchObject({
    status: 410,
    error: { code: "expired" },
  });
  await host.end("SIGTERM");
  await host.changeConfig({ approvals: { expiresMinutes: 30 } });
  await host.boot();
  const after = (await host.replies()).at(-1)?.seq;
  const second = await host.say("family", "@crab run echo ran | tee -a marks");
  const asked = await card(host, after);

  const unauthorized = await fetch(`${host.url}/v1/approvals`);
  const listed = (await (await host.get("/v1/approvals")).json()) as { approvals: object[] };

  expect(unanswered.text).toBe("so: Error: nobody answered within 3 seconds");
  expect(unauthorized.status).toBe(401);
  expect(listed.approvals).toMatchObject([{ code: asked.code, state: "open", group: "family" }]);
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
  expect((await host.replyTo(second.id)).text).toContain("[exit code 0");
  expect(await host.readGroupFile("family", "marks")).toBe("ran\n");
});
