import { expect, test } from "vitest";

import { AgentsInProcess } from "../support/agents-in-process.ts";
import { jsonLines } from "../support/crabpot.ts";
import { openEmbeddedHost } from "../support/embedded-host.ts";

function codeIn(texts: readonly string[]): string {
  return /code: (\w{8})\./.exec(texts.at(-1) ?? "")?.[1] ?? "";
}

test("who writes directly is let in by the code that only they got, from a main group or the command line", async () => {
  await using host = await openEmbeddedHost();
  const { channel } = host;
  const write = (from: string, text: string) => channel.say(`${from}@x`, text, { sender: from, direct: true });

  await write("bea", "the secret plan");
  await write("joe", "hello");
  await expect.poll(() => [channel.heard("bea@x"), channel.heard("joe@x")].flat()).toHaveLength(2);
  const [bea, joe] = [codeIn(channel.heard("bea@x")), codeIn(channel.heard("joe@x"))];
  const listed = jsonLines((await host.cli("pairing", "list", "--json")).stdout);
  // A stranger who knows the way says the code where strangers can.
  await write("joe", `/approve ${bea}`);
  const wrong = await host.cli("pairing", "approve", "AAAAAAAA");
  const approved = await host.cli("pairing", "approve", bea.toLowerCase(), "--name", "bea", "--json");
  await channel.say("home", `/approve ${joe} joe`);
  await expect.poll(() => channel.heard("joe@x")).toHaveLength(2);
  await write("bea", "run echo here");
  await expect.poll(() => channel.heard("bea@x")).toHaveLength(3);
  const again = await host.cli("pairing", "approve", bea);
  const left = await host.cli("pairing", "list", "--json");
  const events = jsonLines((await host.cli("events", "tail", "--after", "0", "--type", "person.*", "--json")).stdout);
  await host.end();
  const audit = (await host.cli("audit", "export")).stdout;

  expect(listed).toMatchObject([
    { code: bea, state: "requested", channel: "fake", chat: "bea@x", id: "fake:bea", name: "bea" },
    { code: joe, id: "fake:joe" },
  ]);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('no pairing with the code "AAAAAAAA"') });
  expect(JSON.parse(approved.stdout)).toMatchObject({ group: "bea", chat: "bea@x", channel: "fake" });
  expect(again.code).toBe(1);
  expect(left.stdout).toBe("");
  expect(channel.heard("bea@x")[1]).toContain("Hello, I am crab");
  expect(channel.heard("bea@x")[2]).toContain("here");
  expect(events.map(({ data }) => (data as { readonly id: string }).id)).toEqual(["bea", "joe"]);
  expect(audit).toMatch(/"type":"person-paired",[^\n]*"actor":"operator"/);
  expect(audit).toMatch(/"type":"person-paired",[^\n]*"actor":"member:anna"/);
  expect(audit).toContain('"type":"pairing-request"');
  expect(await host.find("secret plan")).toEqual([]);
});

test.for([
  ["allowlist", ["friend@x"], 1],
  ["open", ["friend@x", "stranger@x"], 0],
  ["off", [], 1],
] as const)(
  "with access.dm: %s only these direct chats are answered, and all others hear nothing",
  async ([dm, answered, refusals]) => {
    const config = { access: { dm }, people: { ann: { ids: ["fake:friend"] } } };
    await using host = await openEmbeddedHost(config, { agents: new AgentsInProcess() });
    const { channel } = host;

    for (const from of ["friend", "stranger", "friend", "stranger"]) {
      await channel.say(`${from}@x`, "hello", { sender: from, direct: true });
    }
    await expect.poll(() => answered.map((chat) => channel.heard(chat).length > 0)).toEqual(answered.map(() => true));
    const groups = jsonLines((await host.cli("groups", "list", "--json")).stdout).map(({ chat }) => chat);
    const refused = jsonLines(
      (await host.cli("events", "tail", "--after", "0", "--type", "access.refused", "--json")).stdout,
    );

    expect(new Set(groups)).toEqual(new Set([...answered, "home", "main"]));
    expect([...channel.heard("home"), ...channel.heard("stranger@x").filter(() => dm !== "open")]).toEqual([]);
    expect(refused.map(({ data }) => (data as { readonly rule: string }).rule)).toEqual(
      Array.from({ length: refusals }, () => `access.dm: ${dm}`),
    );
  },
);
