import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { stringify } from "yaml";

import { builtInAdapters } from "../../../../src/config/adapters.ts";
import { checkConfig, describeFault } from "../../../../src/config/loading/load.ts";
import { deniedBy, namedIds } from "../../../../src/config/configured/people.ts";
import { resolveGroup } from "../../../../src/config/resolve-group.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

async function check(config: object) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, stringify(config), { mode: 0o600 });
  return await checkConfig(file, {}, builtInAdapters);
}

async function faultsOf(config: object): Promise<string[]> {
  const checked = await check(config);
  return checked.ok ? [] : checked.faults.map(describeFault);
}

async function configOf(config: object) {
  const checked = await check(config);
  if (!checked.ok) throw new Error(checked.faults.map(describeFault).join("\n"));
  return checked.loaded.config;
}

const group = (more: object) => ({ groups: { family: { channel: "terminal", chat: "family", ...more } } });

test.for([
  [{ people: { ann: { ids: ["http:ann"], role: "amdin" } } }, /people\.ann\.role: must be .*; did you mean admin\?/],
  [{ people: { ann: { ids: [] } } }, /people\.ann\.ids: must not be empty/],
  [
    { people: { ann: { ids: ["htpp:ann"] } } },
    /people\.ann\.ids\[0\]: there is no channel "htpp"; did you mean http\?/,
  ],
  [{ people: { ann: { ids: ["nobody"] } } }, /people\.ann\.ids\[0\]: "nobody" is no id; write "<channel>:<id>"/],
  [
    { people: { ann: { ids: ["http:1"] }, ben: { ids: ["http:1"] } } },
    /people\.ben\.ids\[0\]: "http:1" already belongs to ann/,
  ],
  [{ people: { ann: { ids: ["http:1", "http:1"] } } }, /people\.ann\.ids\[1\]: "http:1" is there twice/],
  [
    { people: { ann: { ids: ["whatsapp:+4915"] } } },
    /people\.ann\.ids\[0\]: "\+4915" is no phone number with a country/,
  ],
  [{ people: { ann: { ids: ["whatsapp:Ann"] } } }, /"Ann" is not the id of a person: write the phone number as \+1555/],
  [{ access: { deny: ["whatsapp:+49 151 23456"] } }, /access\.deny\[0\]: .* has to be written \+4915123456, if/],
  [{ access: { deny: ["whatsapp:+1 (555) 123-4567"] } }, /has to be written \+15551234567, if/],
  [{ access: { deny: ["whatsapp:15551234567"] } }, /has to be written \+15551234567, if/],
  [{ access: { deny: ["whatsapp:+0015551234567"] } }, /is no phone number with a country code/],
  [{ access: { deny: ["whatsapp:+1555123456789012"] } }, /is no phone number with a country code/],
  [{ access: { deny: ["whatsapp:+１５５５１２３４５６"] } }, /is not the id of a person/],
  [group({ members: { "whatsapp:+49 151 23456": "admin" } }), /members\["whatsapp:\+49 151 23456"\]: .* written \+49/],
  [
    { people: { ann: { ids: ["whatsapp:+491512345"] }, ben: { ids: ["whatsapp:491512345@s.whatsapp.net"] } } },
    /people\.ben\.ids\[0\]: "whatsapp:491512345@s\.whatsapp\.net" already belongs to ann/,
  ],
  [
    { members: { "whatsapp:+491512345": "admin", "whatsapp:491512345@s.whatsapp.net": "guest" } },
    /members\[.*\]: "whatsapp:491512345@s\.whatsapp\.net" is the same as "whatsapp:\+491512345"/,
  ],
  [{ people: { ann: { id: ["http:1"] } } }, /people\.ann\.id: unknown key; did you mean ids\?/],
  [group({ members: { defualt: "guest" } }), /groups\.family\.members\.defualt: unknown key; did you mean default\?/],
  [
    group({ members: { "http:ann": "boss" } }),
    /groups\.family\.members\["http:ann"\]: must be guest or member or admin/,
  ],
  [group({ members: { default: "owner" } }), /groups\.family\.members\.default: must be guest or member or admin, not/],
  [group({ access: { trigger: "admins" } }), /groups\.family\.access\.trigger: must be .*; did you mean admin\?/],
  [group({ access: { dm: "off" } }), /groups\.family\.access\.dm: unknown key; known here: trigger, deny/],
  [group({ access: { deny: ["eve"] } }), /groups\.family\.access\.deny\[0\]: "eve" is no id/],
  [{ access: { dm: "paring" } }, /access\.dm: must be .*; did you mean pairing\?/],
  [{ acess: {} }, /acess: unknown key; did you mean access\?/],
  [{ members: { "http:": "admin" } }, /members\["http:"\]: "http:" is no id/],
] as const)("config check refuses %j", async ([config, said]) => {
  expect((await faultsOf(config)).join("\n")).toMatch(said);
});

test("a phone number with its country code may stand wherever an id of a person may", async () => {
  const number = "whatsapp:+15551234567";
  const config = await configOf({
    people: { ann: { ids: [number, "whatsapp:1@lid"], role: "owner" } },
    members: { [number]: "admin" },
    access: { deny: ["whatsapp:+15557654321"] },
    ...group({ members: { [number]: "guest" }, access: { deny: [number] } }),
  });

  expect(namedIds(config, "whatsapp")).toEqual([
    "+15551234567",
    "1@lid",
    "+15551234567",
    "+15551234567",
    "+15557654321",
    "+15551234567",
  ]);
  expect(namedIds(config, "what")).toEqual([]);
});

test("what a group says of members and access comes before what holds for all", async () => {
  const config = await configOf({
    members: { default: "guest" },
    access: { trigger: "member", deny: ["http:eve"] },
    groups: {
      plain: { channel: "terminal", chat: "plain" },
      own: {
        channel: "terminal",
        chat: "own",
        members: { "http:ann": "admin" },
        access: { trigger: "everyone", deny: ["http:joe"] },
      },
    },
  });

  expect(resolveGroup(config, { name: "came-by-a-chat" }).members).toEqual({
    place: "members",
    default: "guest",
    byKey: {},
  });
  expect(resolveGroup(config, { name: "own" }).members).toEqual({
    place: "groups.own.members",
    byKey: { "http:ann": "admin" },
  });
  expect(["plain", "own", "came-by-a-chat"].map((name) => resolveGroup(config, { name }).triggerRole)).toEqual([
    "member",
    "guest",
    "member",
  ]);
  expect(deniedBy(config, "own", ["http:eve"])).toBe("access.deny");
  expect(deniedBy(config, "own", ["http:joe"])).toBe("groups.own.access.deny");
  expect(deniedBy(config, "plain", ["http:joe"])).toBeUndefined();
});
