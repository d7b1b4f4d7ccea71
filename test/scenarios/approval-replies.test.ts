import { expect, test } from "vitest";

import { approvals, bob, card, running, withBob } from "../support/asked-calls.ts";
import { jsonLines } from "../support/crabpot.ts";
import { startModelHost } from "../support/model-host.ts";

test("a reply of one word to the question is an answer; to anything else, or with more words, it is not", async () => {
  await using home = await startModelHost(running("echo ran >> marks"), withBob);
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);
  const replyTo = { id: String(asked.seq) };
  await host.say("family", "yes", bob);
  await host.say("family", "yes please", { ...bob, replyTo });
  await host.say("other", "yes", { ...bob, replyTo });
  const byMember = await host.ask("family", "yes", { replyTo });
  expect(await approvals(host)).toMatchObject([{ state: "open", votes: 0 }]);

  const answered = await host.ask("family", " OK ", { ...bob, replyTo });

  expect(byMember.text).toContain("is for admins to answer");
  expect(answered.text).toBe(`"Bob" has allowed shell (${asked.code}) once.`);
  expect((await host.replyTo(said.id)).text).toContain("[exit code 0");
  const events = await host.cli("events", "tail", "--after", "0", "--type", "approval.answered", "--json");
  expect(jsonLines(events.stdout)).toMatchObject([{ data: { way: "reply" } }]);
});

test("a thumb of somebody who may, on the very card, is an answer; of others, elsewhere or once more it is not", async () => {
  await using home = await startModelHost(running("echo ran >> marks"), withBob);
  const { host } = home;
  const said = await host.say("family", "@crab do it");
  const asked = await card(host);
  let reactions = 0;
  const react = async (emoji: string, more: object = {}) => {
    reactions += 1;
    const body = { id: `r${reactions}`, group: "family", seq: asked.seq, emoji, ...bob, ...more };
    const answer = await host.react(body);
    return { status: answer.status, ...((await answer.json()) as { duplicate?: boolean; error?: object }) };
  };
  const ann = { sender: { id: "ann", name: "Bob" } };
  const statuses = [
    await react("👍", ann),
    await react("👎🏿", ann),
    await react("👍", { group: "other" }),
    await react("👍", { seq: asked.seq + 1_000 }),
    await react("❤️"),
    await react("", { id: "taken-back" }),
    await react("👍", { group: "nowhere" }),
    await react("👍", { seq: 0 }),
    await react("👍", { more: true }),
  ];
  expect(await approvals(host)).toMatchObject([{ state: "open", votes: 0 }]);
  const refusal = "is for admins to answer";
  await expect.poll(async () => (await host.replies()).filter(({ text }) => text.includes(refusal)).length).toBe(1);
  await host.end("SIGKILL");
  await host.boot();

  const allowed = await react("👍🏽", { id: "answer" });
  const again = await react("👍🏽", { id: "answer" });
  const late = await react("👎");
  const answer = await host.replyTo(said.id);

  expect(statuses.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 202, 404, 400, 400]);
  expect(statuses.at(-2)?.error).toMatchObject({ code: "bad_input", path: "seq" });
  expect([allowed, again, late]).toMatchObject([
    { status: 202, id: "answer", duplicate: false },
    { status: 202, id: "answer", duplicate: true },
    { status: 202, duplicate: false },
  ]);
  expect(asked.text).toContain("or react with 👍 (once) or 👎");
  expect(answer.text).toContain("[exit code 0");
  expect(await host.readGroupFile("family", "marks")).toBe("ran\n");
  const texts = (await host.replies()).map(({ text }) => text);
  expect(texts.filter((text) => text.includes(refusal))).toHaveLength(1);
  expect(texts.filter((text) => text === `"Bob" has allowed shell (${asked.code}) once.`)).toHaveLength(1);
  const events = await host.cli("events", "tail", "--after", "0", "--type", "approval.answered", "--json");
  expect(jsonLines(events.stdout)).toMatchObject([
    { actor: "member:bob", data: { code: asked.code, way: "reaction", allow: true, scope: "once", role: "admin" } },
  ]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});
