import { readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import { TestHost } from "../support/host.ts";
import { startWithoutContainers } from "../support/model-host.ts";

async function recordsOf(host: TestHost, ...path: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await host.cli("config", "history", ...path, "--json");
  return jsonLines(stdout);
}

async function write(host: TestHost, change: (text: string) => string): Promise<void> {
  const file = join(host.home, "config.yaml");
  const text = await readFile(file, "utf8");
  await writeFile(`${file}.by-test`, change(text), { mode: 0o600 });
  await rename(`${file}.by-test`, file);
}

test("a setting that is set holds for the next turn, is said with what it needs, and is on record with who and when", async () => {
  await using running = await startWithoutContainers(({ model }) => ({ text: `by ${model}` }), {
    variables: { EXTRA_KEY: "sk-extra-0123456789" },
  });
  const { host } = running;
  await host.ask("family", "@crab hello");
  const set = (...args: string[]) => host.cli("config", "set", ...args);

  const route = await set("models.routes.main", "[gpt/other-model]", "--json");
  const memory = await set("sandbox.pids", "128");
  const port = await set("gateway.names", "[crab.example]");
  const secret = await set("models.providers.extra", '{ kind: openai, apiKey: "${EXTRA_KEY}" }');
  const after = await host.ask("family", "@crab hello");
  const got = [
    await host.cli("config", "get", "models.routes.main[0]"),
    await host.cli("config", "get", "gateway.names"),
  ];
  const diff = await host.cli("config", "diff");
  const wrong = await set("sandbox.pids", "1");
  const records = await recordsOf(host);

  expect(after.text).toBe("by other-model");
  expect(jsonLines(route.stdout)).toMatchObject([
    {
      changed: ["models.routes.main"],
      changes: [{ path: "models.routes.main", from: ["gpt/test-model"], to: ["gpt/other-model"], applies: "now" }],
      config: { state: "applied" },
    },
  ]);
  expect(memory.stdout).toBe("applied with the next container: sandbox.pids (256 → 128)\n");
  expect(port).toMatchObject({ code: 0, stdout: "needs a restart: gateway.names ([] → [ crab.example ])\n" });
  expect(secret.stdout).toContain('apiKey: "***"');
  expect(got.map(({ stdout }) => stdout)).toEqual(["gpt/other-model\n", "[]\n"]);
  expect(diff.stdout).toContain("gateway.names\t[]\t[ crab.example ]\tafter a restart\n");
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("sandbox.pids: must be at least 64") as string,
  });
  expect(records).toMatchObject([
    { actor: "operator", via: "command", path: "models.providers.extra", to: { kind: "openai", apiKey: "***" } },
    { actor: "operator", via: "command", path: "sandbox.pids", from: 256, to: 128 },
    {
      actor: "operator",
      via: "command",
      path: "models.routes.main",
      from: ["gpt/test-model"],
      to: ["gpt/other-model"],
    },
  ]);
  expect(Date.parse(String(records[0]?.["time"]))).toBeGreaterThan(Date.now() - 120_000);
  const { stdout } = await host.cli("audit", "tail", "--lines", "200", "--json");
  for (const text of [stdout, JSON.stringify(records)]) expect(text).not.toMatch(/sk-extra|sk-canary/);
});

test("what is edited by hand, or while no host runs, is on record too, and history can be read without a host", async () => {
  await using host = await TestHost.start();

  await write(host, (text) => `${text}timezone: Europe/Paris\n`);
  const applied = await host.cli("config", "apply");
  await host.end("SIGTERM");
  const set = await host.cli("config", "set", "timezone", "Asia/Tokyo");
  const got = await host.cli("config", "get", "timezone");
  const left = await recordsOf(host, "timezone");
  await host.boot();

  expect(applied.code).toBe(0);
  expect(set.stdout).toContain("No host is running; it takes effect at the next start.");
  expect(got.stdout).toBe("Asia/Tokyo\n");
  expect(left).toMatchObject([{ via: "file", path: "timezone", from: "UTC", to: "Europe/Paris" }]);
  expect(await recordsOf(host, "timezone")).toMatchObject([
    { via: "start", path: "timezone", from: "Europe/Paris", to: "Asia/Tokyo" },
    { via: "file" },
  ]);
});

test("many who set settings at once lose nothing, and an edit that a crash has cut off changes nothing", async () => {
  await using host = await TestHost.start({ withoutContainers: "all", shellHere: true });
  const file = join(host.home, "config.yaml");
  const soon = new Date(Date.now() + 3_600_000);
  const mode = (await stat(file)).mode;

  const made = await Promise.all(
    ["one", "two", "three", "four", "five"].map((chat) =>
      host.cli("config", "set", `groups.${chat}`, `{ channel: http, chat: ${chat} }`),
    ),
  );
  const text = await readFile(file, "utf8");
  await host.end("SIGKILL");
  await writeFile(`${file}.draft`, "groups: {", { mode: 0o600 });
  await host.boot();
  const answer = await host.ask("five", "@crab run echo here");
  // However long that took: somebody writes it in this moment.
  await utimes(`${file}.draft`, soon, soon);
  const busy = await host.cli("config", "set", "timezone", "Asia/Tokyo");
  await rm(`${file}.draft`);

  expect(made.filter(({ code }) => code !== 0)).toEqual([]);
  for (const chat of ["one", "two", "three", "four", "five"]) expect(text).toContain(`${chat}: { channel: http`);
  expect(answer.text).toContain("here");
  expect(busy).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is being changed by somebody else") as string,
  });
  expect((await stat(file)).mode).toBe(mode);
});
