import { join } from "node:path";

import { writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { paceLimits } from "../../../src/config/configured/groups.ts";
import { checkConfig, describeFault } from "../../../src/config/loading/load.ts";
import { isGroupName } from "../../../src/domain/chats/group.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function check(text: string) {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "config.yaml");
  await writeFile(file, text, { mode: 0o600 });
  return await checkConfig(file, {}, builtInAdapters);
}

async function configOf(text: string) {
  const checked = await check(text);
  if (!checked.ok) throw new Error(checked.faults.map(describeFault).join("\n"));
  return checked.loaded;
}

test("without a word about it, a day, an hour, a loop and the age of texts have limits", async () => {
  const { intake, limits, store } = (await configOf("")).config;

  expect(intake).toMatchObject({
    perGroupPerDay: { messages: 20_000, megabytes: 64, attachmentMegabytes: 2048 },
    perMemberPerDay: { messages: 10_000, megabytes: 16, attachmentMegabytes: 512 },
    autoRegister: { perDay: 1_000, total: 5_000 },
  });
  expect(limits).toEqual({
    turnsPerHour: 600,
    loopTurns: 60,
    maxSteps: 100,
    jobs: { perSession: 4, hours: 6 },
    subAgents: { depth: 1, atOnce: 4, minutes: 30 },
  });
  expect(store).toEqual({ retentionDays: { messages: 365, turns: 365, replies: 90 } });
});

test("a group has its own limits, what it leaves out is as for everybody, and the terminal has none unless it says so", async () => {
  const loaded = await configOf(`
channels: { http: {}, terminal: {} }
gateway: { token: t }
limits: { turnsPerHour: 100 }
groups:
  own: { channel: http, chat: own, limits: { loopTurns: 5 } }
  typed: { channel: terminal, chat: typed }
  bounded: { channel: terminal, chat: bounded, limits: { turnsPerHour: 7 } }
`);

  expect(paceLimits(loaded, { name: "own", channel: "http" })).toEqual({ turnsPerHour: 100, loopTurns: 5 });
  expect(paceLimits(loaded, { name: "added", channel: "http" })).toEqual({ turnsPerHour: 100, loopTurns: 60 });
  expect(paceLimits(loaded, { name: "typed", channel: "terminal" })).toEqual({ turnsPerHour: 0, loopTurns: 0 });
  expect(paceLimits(loaded, { name: "bounded", channel: "terminal" })).toEqual({ turnsPerHour: 7, loopTurns: 0 });
});

test.each(["con", "prn", "aux", "nul", "com0", "com9", "lpt0", "lpt9"])(
  "the name %s, which Windows keeps for a device, is no name of a group, and the fault says why",
  async (name) => {
    const checked = await check(`groups: { ${name}: { channel: terminal, chat: x } }`);

    expect(checked.ok ? [] : checked.faults.map(describeFault)).toEqual([
      `groups.${name}: "${name}" cannot be the name of a group: Windows reserves it for a device`,
    ]);
  },
);

test("for all names, those of devices and no others are refused beyond the pattern", () => {
  const devices = /^(con|prn|aux|nul|(com|lpt)\d)$/;
  const letters = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,4}$/);
  const names = fc.oneof(
    letters,
    fc.constantFrom("con", "com1", "lpt5", "con1", "com10", "lpt", "console", "nul-l", "aux_"),
  );
  fc.assert(fc.property(names, (name) => isGroupName(name) === !devices.test(name)));
});
