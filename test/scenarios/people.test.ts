import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startWithoutContainers } from "../support/model-host.ts";

const people = { zoe: { ids: ["http:zoe", "http:zoe-2"], role: "owner" } };

function as(id: string, name = id): { readonly sender: { readonly id: string; readonly name: string } } {
  return { sender: { id, name } };
}

async function rules(host: TestHost, type: string): Promise<unknown[]> {
  const { stdout } = await host.cli("events", "tail", "--after", "0", "--type", type, "--json");
  return jsonLines(stdout).map(({ data }) => (data as { readonly rule: string }).rule);
}

test("members ask, admins command, guests are read along, and the denied are not heard; a change holds at once", async () => {
  const stopped = Promise.withResolvers<void>();
  await using running = await startWithoutContainers(
    ({ messages }) => {
      const last = messages.at(-1);
      const takesLong = last?.role === "user" && last.text.includes("sleep");
      return { text: "answered", ...(takesLong && { holds: stopped.promise }) };
    },
    {
      config: { people },
      groups: {
        family: {
          members: { default: "member", "http:ann": "admin", "http:guy": "guest" },
          access: { trigger: "member", deny: ["http:eve"] },
        },
      },
    },
  );
  const { host, model } = running;

  await host.say("family", "@crab hello from eve", as("eve", "ann"));
  const refused = await host.ask("family", "@crab let me in", as("guy", "ann"));
  const toZoe = await host.ask("family", "/whoami", as("zoe-2"));
  const asked = await host.say("family", "@crab sleep", as("ben"));
  await expect.poll(() => model.requests.length).toBe(1);
  const byJoe = await host.ask("family", "/stop", as("joe", "ben"));
  const byAnn = await host.ask("family", "/stop", as("ann"));
  const ended = await host.replyTo(asked.id);
  stopped.resolve();
  const before = jsonLines((await host.cli("people", "list", "--group", "family", "--json")).stdout);
  await host.changeConfig({
    groups: { family: { channel: "http", chat: "family", members: { default: "guest" } } },
  });
  await expect.poll(async () => (await host.ask("family", "/new", as("ann"))).text).toContain("you are a guest here");
  const groups = jsonLines((await host.cli("groups", "list", "--json")).stdout);
  await host.end("SIGTERM");
  const after = jsonLines((await host.cli("people", "list", "--json")).stdout);
  const misspelt = await host.cli("people", "list", "--group", "famly");

  expect(refused.text).toBe("Only members can ask me here. I read other messages as context.");
  expect(toZoe.text).toContain("known to me as zoe.\nYou are an owner here: people.zoe.role.");
  expect(byJoe.text).toBe("Only the person who asked, or an admin, can stop what I am working on.");
  expect(byAnn.text).toContain('Stopped by "ann"');
  expect(ended).toEqual(byAnn);
  const shown = JSON.stringify(model.requests);
  expect(shown).toContain("let me in");
  expect(shown).not.toContain("from eve");
  expect((await rules(host, "message.received")).slice(0, 2)).toEqual(["access-deny", "access-trigger"]);
  expect((await rules(host, "access.refused")).at(-1)).toBe("/new needs member");
  const found = (rows: typeof before, wanted: string) => rows.find(({ id }) => id === wanted);
  expect(found(before, "http:ann")).toEqual({
    id: "http:ann",
    name: "ann",
    group: "family",
    role: "admin",
    why: 'groups.family.members["http:ann"]',
  });
  expect(found(before, "http:zoe")).toMatchObject({ person: "zoe", role: "owner", why: "people.zoe.role" });
  expect(found(before, "http:eve")).toBeUndefined();
  expect(found(after, "http:ann")).toMatchObject({ role: "guest", why: "groups.family.members.default" });
  expect(groups).toMatchObject([{ name: "family", triggerRole: "guest", members: { default: "guest" } }]);
  expect(misspelt.stderr).toContain("did you mean family?");
});
