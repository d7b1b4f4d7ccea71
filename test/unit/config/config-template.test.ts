import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { configTemplate } from "../../../src/config/explain/config-template.ts";
import { configJsonSchema } from "../../../src/config/schema/json-schema.ts";
import { loadConfig } from "../../../src/config/loading/load.ts";
import { crabpot, newHome } from "../../support/crabpot.ts";

const withKey = { ANTHROPIC_API_KEY: "sk-ant-0123456789", ANTHROPIC_BASE_URL: "https://models.example" };

test.for([
  ["without a key", {}],
  ["with a key in the environment", withKey],
] as const)(
  "the configuration to begin with means the same as none, commented out or not: %s",
  async ([, variables]) => {
    await using place = await newHome();
    const file = join(place.home, "config.yaml");
    const text = configTemplate(builtInAdapters, variables);

    const without = await loadConfig(file, variables, builtInAdapters);
    await writeFile(file, text, { mode: 0o600 });
    const asWritten = await loadConfig(file, variables, builtInAdapters);
    await writeFile(file, text.replaceAll(/^# /gm, ""));
    const uncommented = await loadConfig(file, variables, builtInAdapters);

    expect(asWritten.config).toEqual(without.config);
    expect(uncommented.config).toEqual(without.config);
  },
);

test("it names every section and says what it is for", () => {
  const text = configTemplate(builtInAdapters, {});

  const { properties } = configJsonSchema(builtInAdapters) as { properties: Record<string, { description?: string }> };
  for (const [name, { description }] of Object.entries(properties)) {
    expect(description ?? `${name} has no description`).toMatch(/^[A-Z].*\.$/);
    expect(text).toContain(`\n## ${description}\n# ${name}:`.replace(/\n# timezone:$/, "\n# timezone: UTC"));
  }
});

test("config init writes it for its user only, and never over another one", async () => {
  await using place = await newHome();
  const file = join(place.home, "config.yaml");

  const first = await crabpot(place, "config", "init");
  const again = await crabpot(place, "config", "init");
  const checked = await crabpot(place, "config", "check");

  expect(first).toMatchObject({ code: 0, stdout: `Wrote ${file}.\n` });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`${file} already exists`) });
  expect(checked.code).toBe(0);
});
