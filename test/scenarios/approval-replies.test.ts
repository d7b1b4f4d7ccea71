import { expect, test } from "vitest";

import { admins, approvals, asks, bob, card, running } from "../support/asked-calls.ts";
import { shareModelHost } from "../support/shared-host.ts";

const hosts = shareModelHost({
  withoutContainers: "all",
  shellHere: true,
  groups: { quoting: admins, reacting: admins, other: {} },
  config: asks,
});

test("a reply of one word to the question is an answer; to anything else, or with more words, it is not", async () => {
  const group = hosts.group("quoting", running("echo ran >> marks"));
  const said = await group.say("@crab do it");
  const asked = await card(group);
  const replyTo = { id: String(asked.seq) };
  await group.say("yes", bob);
  await group.say("yes please", { ...bob, replyTo });
  await group.host.say("other", "yes", { ...bob, replyTo });
  const byMember = await group.ask("yes", { replyTo });
  expect(await approvals(group)).toMatchObject([{ state: "open", votes: 0 }]);

  const answered = await group.ask(" OK ", { ...bob, replyTo });

  expect(byMember.text).toContain("is for admins to answer");
  expect(answered.text).toBe(`"Bob" has allowed shell (${asked.code}) once.`);
  expect((await group.replyTo(said.id)).text).toContain("[exit code 0");
  expect(await group.events("approval.answered")).toMatchObject([{ data: { way: "reply" } }]);
});

test("a thumb of somebody who may, on the very card, is an answer; of others, elsewhere or once more it is not", async () => {
  const group = hosts.group("reacting", running("echo ran >> marks"));
  const { host } = group;
  const said = await group.say("@crab do it");
  const asked = await card(group);
  let reactions = 0;
  const react = async (emoji: string, more: object = {}) => {
    reactions += 1;
    const body = { id: `r${reactions}`, group: "reacting", seq: asked.seq, emoji, ...bob, ...more };
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
  expect(await approvals(group)).toMatchObject([{ state: "open", votes: 0 }]);
  const refusal = "is for admins to answer";
  await expect.poll(async () => (await group.replies()).filter(({ text }) => text.includes(refusal)).length).toBe(1);
  await host.end("SIGKILL");
  await host.boot();

  const allowed = await react("👍🏽", { id: "answer" });
  const again = await react("👍🏽", { id: "answer" });
  const late = await react("👎");
  const answer = await group.replyTo(said.id);

  expect(statuses.map(({ status }) => status)).toEqual([202, 202, 202, 202, 202, 202, 404, 400, 400]);
  expect(statuses.at(-2)?.error).toMatchObject({ code: "bad_input", path: "seq" });
  expect([allowed, again, late]).toMatchObject([
    { status: 202, id: "answer", duplicate: false },
    { status: 202, id: "answer", duplicate: true },
    { status: 202, duplicate: false },
  ]);
  expect(asked.text).toContain("or react with 👍 (once) or 👎");
  expect(answer.text).toContain("[exit code 0");
  expect(await group.readFile("marks")).toBe("ran\n");
  const texts = (await group.replies()).map(({ text }) => text);
  expect(texts.filter((text) => text.includes(refusal))).toHaveLength(1);
  expect(texts.filter((text) => text === `"Bob" has allowed shell (${asked.code}) once.`)).toHaveLength(1);
  expect(await group.events("approval.answered")).toMatchObject([
    { actor: "member:bob", data: { code: asked.code, way: "reaction", allow: true, scope: "once", role: "admin" } },
  ]);
  expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
});
