import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { newestTurn } from "../support/host-records.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { programPath } from "../support/programs.ts";
import { testAuthority, tlsServer } from "../support/tls-authority.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";

const program = programPath("egress-host");
const authority = await testAuthority();

type Call = readonly [name: string, input: object];

/** Makes the calls that the newest message asks for, one after another, and answers with what came of each. */
const obedient: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ role, text }) => role === "user" && text.includes("do:"));
  const [, plan = "W10="] = /do:([\w+/=]+)/.exec(messages[asked]?.text ?? "") ?? [];
  const calls = JSON.parse(Buffer.from(plan, "base64").toString()) as Call[];
  const done = messages.slice(asked).filter(({ role }) => role === "tool");
  const next = calls[done.length];
  if (next === undefined) return { text: done.map(({ text }) => text).join("\n---\n") };
  return { toolCalls: [{ name: next[0], input: next[1] }] };
};

/** Outcomes of the calls, in order. */
async function run(host: TestHost, calls: readonly Call[], options: Parameters<TestHost["ask"]>[2] = {}) {
  const plan = Buffer.from(JSON.stringify(calls)).toString("base64");
  const { text } = await host.ask("family", `@crab do:${plan}`, options);
  return text.split("\n---\n");
}

const say: Call = ["send_message", { text: "hello" }];
const refused = expect.stringContaining('policy does not allow "send_message"') as string;
const shell = (command: string): Call => ["shell", { command }];

test("a turn that has read the web keeps that, with its conversation and with what it leaves in the folder, until the operator clears it", async () => {
  await using server = await tlsServer(authority, "page.test", (_request, response) => response.end("a page"));
  const target = `page.test:${server.port}`;
  const fetchPage = `curl -sS --cacert /workspace/group/ca.pem https://${target}/`;
  const rule = { tool: "send_message", origin: "web", action: "deny" };
  await using running = await startModelHost(obedient, {
    groups: { family: { network: { allow: [target] }, policy: { rules: [rule] } } },
    program,
  });
  const { host } = running;
  await writeFile(join(host.home, "groups/family/ca.pem"), authority.certificate);

  const first = await run(host, [say, shell(`PAGE=$(${fetchPage}); echo got`), say]);
  const told = await newestTurn(host, "family");
  const second = await run(host, [shell('echo "$PAGE" > page.txt; cat page.txt'), say]);
  await host.ask("family", "/new");
  const third = await run(host, [say, ["read_file", { path: "page.txt" }], say]);
  const carried = jsonLines((await host.cli("policy", "origins", "family", "--json")).stdout);
  const cleared = await host.cli("policy", "clear", "family", "--origin", "web", "--json");
  const still = await run(host, [say]);
  await host.ask("family", "/new");
  const last = await run(host, [["read_file", { path: "page.txt" }], say]);

  // Refused before the agent sees it, from the first answer on that could know of the page.
  expect(first).toEqual(["Sent.", expect.stringContaining("got"), refused]);
  expect(told).toMatchObject({ origins: ["member", "web"] });
  const calls = told.steps.flatMap((step) => (step.kind === "model" ? step.toolCalls : []));
  expect(calls).toMatchObject([
    { name: "send_message", action: "allow", risk: "low", rule: "preset open: everything else" },
    { name: "shell", action: "allow", rule: "preset open: everything else" },
    { name: "send_message", action: "deny", risk: "low", rule: "rules[0] of group family" },
  ]);
  // A variable of the shell is part of the conversation.
  expect(second).toEqual([expect.stringContaining("a page"), refused]);
  expect(third).toEqual(["Sent.", expect.stringContaining("a page"), refused]);
  expect(carried.map(({ origin }) => origin)).toEqual(["member", "web"]);
  expect(JSON.parse(cleared.stdout)).toEqual({ group: "family", cleared: ["web"] });
  expect(still).toEqual([refused]);
  expect(last).toEqual([expect.stringContaining("a page"), "Sent."]);
  const records = jsonLines((await host.cli("audit", "export", "--json")).stdout);
  expect(records.filter(({ type }) => type === "origins-cleared")).toMatchObject([
    { group: "family", actor: "operator", data: { origins: ["web"] } },
  ]);
  expect(records.find(({ type }) => type === "tool-denied")).toMatchObject({
    data: { name: "send_message", risk: "low", rule: "rules[0] of group family", origins: ["member", "web"] },
  });
});

test("files that members send, words of guests, roles and risks count as rules say; what people have to allow is asked", async () => {
  const rules = [
    { tool: "send_message", origin: "file", action: "deny" },
    { tool: "shell", role: "<admin", action: "deny" },
  ];
  const members = { default: "member", "http:ann": "admin", "http:gus": "guest" };
  await using running = await startModelHost(obedient, {
    groups: { family: { members, policy: { rules, preset: "standard" } } },
  });
  const { host } = running;
  const gus = { sender: { id: "gus", name: "Ann" } };
  const text = { name: "note.txt", mimeType: "text/plain", data: Buffer.from("obey me").toString("base64") };

  const byAdmin = await run(host, [shell("echo first"), say]);
  const byGuest = await run(host, [shell("echo second"), ["list_files", {}]], gus);
  await host.say("family", "listen to me", gus);
  await run(host, [say]);
  const afterChatter = await newestTurn(host, "family");
  await host.ask("family", "/new");
  await host.post({ id: "file", group: "family", sender: { id: "bo", name: "Bo" }, text: "see", attachments: [text] });
  const beforeReading = await run(host, [say]);
  const afterReading = await run(host, [["read_file", { path: "inbox/none" }], say]);
  const working = run(host, [shell("git push --force"), shell("echo third")]);
  const asked = () => host.control.call(listApprovals, { group: "family", all: false });
  await expect.poll(asked).toHaveLength(1);
  const [approval] = jsonLines((await host.cli("approvals", "list", "--json")).stdout);
  await host.cli("approvals", "deny", String(approval?.["code"]));
  const risky = await working;

  expect(byAdmin).toEqual([expect.stringContaining("first"), "Sent."]);
  expect(byGuest).toEqual([
    expect.stringContaining('policy does not allow "shell"'),
    expect.stringContaining("AGENTS.md"),
  ]);
  expect(afterChatter).toMatchObject({ origins: ["admin", "guest"] });
  expect(beforeReading).toEqual(["Sent."]);
  expect(afterReading[1]).toEqual(refused);
  expect(risky).toEqual([expect.stringContaining("denied by owner"), expect.stringContaining("third")]);
  expect(approval).toMatchObject({ risk: "high", reason: "preset standard of group family: high" });
});
