import { builtInAdapters } from "../../../src/config/adapters.ts";
import { expect, test } from "vitest";

import { exposureOf } from "../../../src/tools/exposure.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { rollDice } from "../../fixtures/guides/roll-dice.ts";

const registry = new ToolRegistry(builtInAdapters.tools, [rollDice]);
const exposure = (...names: string[]) =>
  exposureOf(
    { registry, folders: ["family"] },
    names.map((name) => ({ name })),
  );

test("whatever runs in the container may read the group's folder, and what changes anything may write to it", () => {
  for (const { name, ...tool } of builtInAdapters.tools) {
    const writes = tool.runs === "container" && !tool.readsOnly;
    const expected = { origins: name === "browser" ? ["web"] : [], folders: ["family"], writesFolder: writes };
    const ofWeb = { origins: ["web"], folders: [], writesFolder: true };
    const ofHost = name.startsWith("web_") ? ofWeb : undefined;
    expect([name, exposure(name)]).toEqual([name, tool.runs === "host" ? ofHost : expected]);
  }
  expect(exposure("read_file", "shell")).toMatchObject({ folders: ["family"], writesFolder: true });
  expect(exposure("read_file", "list_files")).toMatchObject({ folders: ["family"], writesFolder: false });
});

test("what another group may have written to a shared folder is read with the own one", () => {
  const shared = { registry, folders: ["family", "work"] };

  expect(exposureOf(shared, [{ name: "read_file" }])).toMatchObject({ folders: ["family", "work"] });
  expect(exposureOf(shared, [{ name: "send_message" }])).toBeUndefined();
});

test("a tool that did not come with crabpot brings its own words", () => {
  expect(exposure("roll_dice")).toEqual({ origins: ["tool"], folders: [], writesFolder: false });
  expect(exposure("gone")).toBeUndefined();
  expect(exposure()).toBeUndefined();
});
