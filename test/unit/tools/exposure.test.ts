import { builtInAdapters } from "../../../src/config/adapters.ts";
import { expect, test } from "vitest";

import { exposureOf } from "../../../src/tools/exposure.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { rollDice } from "../../fixtures/guides/roll-dice.ts";

const registry = new ToolRegistry(builtInAdapters.tools, [rollDice]);
const exposure = (...names: string[]) =>
  exposureOf(
    { registry, writersOfShared: [] },
    names.map((name) => ({ name })),
  );

test("whatever runs in the container may read the group's folder, and what changes anything may write to it", () => {
  for (const { name, ...tool } of builtInAdapters.tools) {
    const writes = tool.runs === "container" && !tool.readsOnly;
    const expected = { origins: name === "browser" ? ["web"] : [], readsFolder: true, writesFolder: writes };
    const ofWeb = { origins: ["web"], readsFolder: false, writesFolder: true };
    const ofHost = name.startsWith("web_") ? ofWeb : undefined;
    expect([name, exposure(name)]).toEqual([name, tool.runs === "host" ? ofHost : expected]);
  }
  expect(exposure("read_file", "shell")).toMatchObject({ readsFolder: true, writesFolder: true });
  expect(exposure("read_file", "list_files")).toMatchObject({ readsFolder: true, writesFolder: false });
});

test("what another group may have written to a shared folder is read with the own one", () => {
  const shared = { registry, writersOfShared: ["work"] };

  expect(exposureOf(shared, [{ name: "read_file" }])).toMatchObject({ readsFolder: true, alsoReads: ["work"] });
  expect(exposureOf(shared, [{ name: "send_message" }])).toBeUndefined();
});

test("a tool that did not come with crabpot brings its own words", () => {
  expect(exposure("roll_dice")).toEqual({ origins: ["tool"], readsFolder: false, writesFolder: false });
  expect(exposure("gone")).toBeUndefined();
  expect(exposure()).toBeUndefined();
});
