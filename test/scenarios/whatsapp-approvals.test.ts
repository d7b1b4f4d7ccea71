import { expect, test, vi } from "vitest";

import { eventsOf } from "../support/host-records.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { restart } from "../support/restarts.ts";
import type { FakeUser } from "../support/whatsapp/fake-whatsapp.ts";
import { shareAppRig } from "../support/whatsapp/shared-app-rig.ts";
import { listApprovals } from "../../src/operations/approvals/operations.ts";

// Several starts of the host in one test.
vi.setConfig({ testTimeout: 600_000 });

const code = /Code ([0-9A-Z]{6})/;
const config = {
  policy: { tools: { shell: "ask" } },
  progress: { afterSeconds: 0, reactions: false },
  people: { bob: { ids: ["whatsapp:90000000000012@lid"], role: "admin" } },
};

const rigs = shareAppRig({ groups: { answered: {}, withheld: {} }, config, withoutContainers: "all", shellHere: true });

/** Each message is a command to run. */
const model: ModelScript = ({ messages, toolOutputs }) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: `so: ${toolOutputs.at(-1)?.split("\n")[0]}` };
  const [, command = "true"] = /run ([^<\n]*)/.exec(last?.text ?? "") ?? [];
  return { toolCalls: [{ name: "shell", input: { command } }] };
};

/** Runs one command, and says what came of it. */
const once: ModelScript = ({ toolOutputs: [result] }) =>
  result === undefined
    ? { toolCalls: [{ name: "shell", input: { command: "echo done" } }] }
    : { text: `so: ${result.split("\n")[0]}` };

/** The card with this command, as a phone shows it. */
async function cardOf(reader: FakeUser, command: string): Promise<{ readonly id: string; readonly code: string }> {
  const find = async () =>
    (await reader.inbox()).filter(({ content: { text } }) => code.test(text) && text.includes(command));
  await expect.poll(async () => (await find()).length).toBe(1);
  const [found] = await find();
  return { id: found?.id ?? "", code: code.exec(found?.content.text ?? "")?.[1] ?? "" };
}

test("on WhatsApp a thumb on the card, or a word that quotes it, of somebody who may, is an answer to this very card", async () => {
  const { ann, bob, host } = rigs.running;
  const family = rigs.group("answered", model);
  const states = async () => {
    const rows = await host.control.call(listApprovals, { group: "answered", all: true });
    return new Map(rows.flatMap((row) => ("code" in row ? [[row.code, row.state] as const] : [])));
  };
  const said = async (reader: FakeUser, text: string) => (await reader.texts(family)).filter((heard) => heard === text);

  await ann.say(family, "@crab run echo one");
  const one = await cardOf(bob, "echo one");
  await ann.say(family, "👍", { reactTo: one.id });
  await ann.say(family, "👎", { reactTo: one.id });
  await ann.say(family, "yes", { quote: one.id });
  await expect
    .poll(
      async () =>
        (await said(bob, `${one.code} is for admins to answer, and you are a member here. /whoami explains why.`))
          .length,
    )
    .toBe(2);
  expect([...(await states())]).toEqual([[one.code, "open"]]);
  await bob.say(family, "👍🏻", { reactTo: one.id });
  await expect.poll(() => said(ann, "so: one")).toHaveLength(1);

  await ann.say(family, "@crab run echo two");
  const two = await cardOf(bob, "echo two");
  // The old card is over, whatever is put on it.
  await bob.say(family, "👍", { reactTo: one.id });
  await bob.say(family, "Allow once", { quote: two.id });
  await expect.poll(() => said(ann, "so: two")).toHaveLength(1);

  await ann.say(family, "@crab run echo three");
  const three = await cardOf(bob, "echo three");
  await bob.say(family, "👎🏽", { reactTo: three.id });
  await expect.poll(async () => (await states()).get(three.code)).toBe("denied");

  const ended = await states();
  expect([one, two, three].map(({ code: asked }) => ended.get(asked))).toEqual(["allowed", "allowed", "denied"]);
  expect((await eventsOf(host, "approval.answered", "answered")).map(({ data }) => data["way"])).toEqual([
    "reaction",
    "reply",
    "reaction",
  ]);
  expect(family.requests.some(({ lastText }) => lastText.includes("reacted"))).toBe(false);
});

test("killed while nobody knows whether the card was sent, the host knows its card when somebody has answered it meanwhile", async () => {
  const { ann, bob, host, whatsapp } = rigs.running;
  const family = rigs.group("withheld", once);
  const heard = async () => (await bob.inbox()).filter(({ chat }) => chat === family.id);
  await whatsapp.fault({ message: "withhold", messageCount: 1 });
  await ann.say(family, "@crab do it");
  const card = await cardOf(bob, "echo done");
  await restart(host, { between: () => bob.say(family, "👍", { reactTo: card.id }) });

  await expect.poll(async () => (await ann.texts(family)).join("\n")).toContain("so: done");
  expect((await heard()).filter(({ content }) => code.test(content.text))).toHaveLength(1);
  const texts = await bob.texts(family);
  expect(texts.filter((text) => text === `"Bob" has allowed shell (${card.code}) once.`)).toHaveLength(1);
});
