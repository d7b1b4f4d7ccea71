import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";
import { parse, stringify } from "yaml";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { startModelHost } from "../support/model-host.ts";

type Settings = Record<string, Record<string, unknown>>;

interface ConfigStatus {
  readonly state: string;
  readonly faults?: readonly string[];
  readonly restart?: readonly string[];
}

/** What an operator has written, changed by an editor that replaces the file. */
async function edit(host: TestHost, change: (config: Settings) => void): Promise<void> {
  const file = join(host.home, "config.yaml");
  const config = parse(await readFile(file, "utf8")) as Settings;
  change(config);
  await replace(file, stringify(config));
}

async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

async function statusOf(host: TestHost): Promise<ConfigStatus> {
  const { stdout } = await host.cli("status", "--json");
  return (jsonLines(stdout)[0] as unknown as { config: ConfigStatus }).config;
}

async function eventsOf(host: TestHost, type: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await host.cli("events", "tail", "--after", "0", "--type", type, "--json");
  return jsonLines(stdout).map(({ data }) => data as Record<string, unknown>);
}

test("a changed route is used by the next turn", async () => {
  await using running = await startModelHost(({ model }) => ({ text: `by ${model}` }));
  const { host } = running;

  const before = await host.ask("family", "@crab hello");
  await edit(host, ({ models = {} }) => Object.assign(models, { routes: { main: ["gpt/other-model"] } }));
  await expect.poll(() => eventsOf(host, "config.applied")).toHaveLength(1);
  const after = await host.ask("family", "@crab hello");

  expect([before.text, after.text]).toEqual(["by test-model", "by other-model"]);
  expect(await eventsOf(host, "config.applied")).toMatchObject([{ changed: ["models.routes.main"], restart: [] }]);
  expect(await statusOf(host)).toMatchObject({ state: "applied" });
});
