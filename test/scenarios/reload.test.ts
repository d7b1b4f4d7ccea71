import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";
import { parse, stringify } from "yaml";

import { jsonLines } from "../support/crabpot.ts";
import { openEventSource } from "../support/event-source.ts";
import type { TestHost } from "../support/host.ts";
import { eventsOf, recordsOf } from "../support/host-records.ts";
import { startModelHost, startWithoutContainers } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { shareModelHost } from "../support/shared-host.ts";
import { readStatus } from "../../src/operations/host/operations.ts";
import { applyConfig } from "../../src/operations/settings/operations.ts";

type Settings = Record<string, Record<string, unknown>>;

/** Changes the configuration with an editor that replaces the file. */
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

/** A group that may reach one place, with a secret for it. */
function withSecret(value: string): object {
  const hosts = ["api.example:443"];
  return { network: { allow: hosts }, secrets: { API: { value, hosts } } };
}

async function statusOf({ control }: TestHost) {
  return (await control.call(readStatus, {})).config;
}

/** The configuration is put back when the test is over. */
async function borrowed(): Promise<{ readonly host: TestHost } & AsyncDisposable> {
  const { host } = hosts.running;
  const file = join(host.home, "config.yaml");
  const before = await readFile(file, "utf8");
  return {
    host,
    [Symbol.asyncDispose]: async () => {
      await replace(file, before);
      await host.control.call(applyConfig, {});
    },
  };
}

/** The events of this type that come from now on. */
async function newEvents(host: TestHost, type: string) {
  const { length } = await eventsOf(host, type);
  return async () => (await eventsOf(host, type)).slice(length).map(({ data }) => data);
}

const scripted = { model: "scripted" };

const hosts = shareModelHost({
  process: "shared",
  groups: {
    routed: {},
    spoilt: {},
    home: { main: true },
    ending: {},
    leaving: {},
    secretive: scripted,
    mounted: scripted,
  },
  models: { routes: { main: ["gpt/test-model"], scripted: ["offline/scripted"] } },
  providers: { offline: { kind: "offline" } },
  withoutContainers: ["routed", "spoilt", "home"],
});

test("a changed route is used by the next turn", async () => {
  await using lent = await borrowed();
  const { host } = lent;
  const group = hosts.group("routed", ({ model }) => ({ text: `by ${model}` }));
  const applied = await newEvents(host, "config.applied");

  const before = await group.ask("@crab hello");
  await edit(host, ({ models = {} }) => Object.assign(models["routes"] ?? {}, { main: ["gpt/other-model"] }));
  await expect.poll(applied).toHaveLength(1);
  const after = await group.ask("@crab hello");

  expect([before.text, after.text]).toEqual(["by test-model", "by other-model"]);
  expect(await applied()).toMatchObject([{ changed: ["models.routes.main"], restart: [] }]);
  expect(await statusOf(host)).toMatchObject({ state: "applied" });
});

test("policy, trigger, budget and groups count from the next turn on; what needs a restart is named, and the rest of the file holds", async () => {
  await using running = await startModelHost(
    ({ messages }) => {
      const done = messages.at(-1);
      return done?.role === "tool"
        ? { text: done.text }
        : { toolCalls: [{ name: "shell", input: { command: "echo ran" } }] };
    },
    { process: "shared", groups: { family: {}, other: {}, poor: {} }, withoutContainers: ["other", "poor", "fresh"] },
  );
  const { host } = running;
  const before = await host.ask("family", "@crab go");
  await host.ask("other", "@crab go");

  await edit(host, (config) => {
    const { family, poor } = config["groups"] as Settings;
    config["groups"] = {
      family: { ...family, trigger: "always" },
      poor: { ...poor, budget: { tokensPerDay: 6_500 } },
      fresh: { channel: "http", chat: "fresh" },
    };
    config["policy"] = { tools: { shell: "deny" } };
    config["gateway"] = { ...config["gateway"], names: ["crab.example"] };
  });
  const applied = await host.cli("config", "apply");
  const denied = await host.ask("family", "not to anybody");
  const added = await host.ask("fresh", "@crab go");
  const refused = await host.ask("poor", `@crab ${"go on ".repeat(2_000)}`);
  const gone = await host.say("other", "@crab go");

  expect(before.text).toMatch(/^ran/);
  expect(denied.text).toContain('policy does not allow "shell"');
  expect(added.text).toContain('policy does not allow "shell"');
  expect(refused.text).toContain("today's budget is not enough for this");
  expect(gone.status).not.toBe(202);
  // The host may have noticed before it was asked.
  expect(applied.stdout).toContain("needs a restart: gateway.names ([] → [ crab.example ])\n");
  const [told] = (await eventsOf(host, "config.applied")).map(({ data }) => data);
  expect(((told ?? {})["changed"] as string[]).toSorted()).toEqual([
    "groups.family.trigger",
    "groups.fresh",
    "groups.other",
    "groups.poor.budget",
    "policy.tools.shell",
  ]);
  expect(told).toMatchObject({ restart: ["gateway.names"] });
  expect(await statusOf(host)).toMatchObject({ state: "restart-needed", restart: ["gateway.names"] });
  expect(host.output.join("")).toContain("needs a restart: gateway.names");
  const diff = await host.cli("config", "diff", "--json");
  expect(jsonLines(diff.stdout)).toEqual([
    { path: "gateway.names", from: [], to: ["crab.example"], applies: "restart" },
  ]);
});

test("a file that cannot be used changes nothing and is told once, and so is its end", async () => {
  await using lent = await borrowed();
  const { host } = lent;
  const file = join(host.home, "config.yaml");
  const good = await readFile(file, "utf8");
  const group = hosts.group("spoilt", () => ({ text: "still here" }));
  const home = hosts.group("home", () => ({ text: "ok" }));
  const notices = async () => (await home.replies()).filter(({ kind }) => kind === "notice").map(({ text }) => text);
  await host.control.call(applyConfig, {});
  const refused = await newEvents(host, "config.refused");
  const { length: printed } = host.output;

  await replace(file, `${good}\nmodles: {}\n`);
  await expect
    .poll(() => statusOf(host))
    .toMatchObject({ state: "invalid", faults: [expect.stringMatching(/^config.yaml: modles: unknown key/)] });
  const again = await host.cli("config", "apply");
  const meanwhile = await group.ask("@crab hello");
  await chmod(file, 0o666);
  const open = await host.cli("config", "apply");
  await rm(file);
  await expect.poll(() => statusOf(host)).toMatchObject({ faults: ["config.yaml: It is gone."] });
  await replace(file, good);
  await expect.poll(() => statusOf(host)).toEqual({ state: "applied", since: expect.any(Number) as number });

  expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining("modles: unknown key") as string });
  expect(open.stdout).toContain("can be written by other users");
  expect(meanwhile.text).toContain("still here");
  expect((await refused()).map(({ paths }) => paths)).toEqual([["modles"], ["config.yaml"], ["config.yaml"]]);
  await expect
    .poll(notices)
    .toEqual([
      expect.stringMatching(/^config.yaml was changed and cannot be used \(modles\)/),
      expect.stringContaining("cannot be used"),
      expect.stringContaining("cannot be used"),
      "The configuration can be used again.",
    ]);
  expect(await recordsOf(host, "config-refused")).toHaveLength(3);
  expect(
    host.output
      .slice(printed)
      .join("")
      .match(/config.yaml cannot be used/g),
  ).toHaveLength(3);
});

test("files that are written in steps, and again and again, end with what was written last", async () => {
  await using lent = await borrowed();
  const { host } = lent;
  const file = join(host.home, "config.yaml");
  const good = await readFile(file, "utf8");
  await host.control.call(applyConfig, {});
  const name = async () => (await host.control.call(readStatus, {})).assistant;
  const [applied, refused] = [await newEvents(host, "config.applied"), await newEvents(host, "config.refused")];

  await writeFile(file, "");
  await writeFile(file, `${good}\nassistant: { name: `);
  await writeFile(file, `${good}\nassistant: { name: twosteps }\n`);
  await expect.poll(name).toBe("twosteps");
  const refusedSoFar = await refused();
  for (let index = 1; index <= 100; index += 1) await replace(file, `${good}\nassistant: { name: edit${index} }\n`);
  await expect.poll(name).toBe("edit100");

  expect(refusedSoFar).toEqual([]);
  expect((await applied()).length).toBeLessThan(12);
  expect(await statusOf(host)).toMatchObject({ state: "applied" });
});

test("a running turn ends with what it began with, also in a group that is removed meanwhile", async () => {
  const waits = "until [ -e /workspace/group/go ]; do sleep 0.1; done; echo on";
  await using lent = await borrowed();
  const { host } = lent;
  const script: ModelScript = ({ toolOutputs, model, lastText }) =>
    toolOutputs.length > 0 || lastText.includes("quick")
      ? { text: `by ${model}` }
      : { toolCalls: [{ name: "shell", input: { command: waits } }] };
  const [family, leaving] = [hosts.group("ending", script), hosts.group("leaving", script)];
  const applied = await newEvents(host, "config.applied");
  const others = await host.containers();
  const containers = async () => (await host.containers()).filter((id) => !others.includes(id));
  const asked = [await family.say("@crab go"), await leaving.say("@crab go")];
  await expect.poll(() => [family.requests.length, leaving.requests.length]).toEqual([1, 1]);

  await edit(host, (config) => {
    delete config["groups"]?.["leaving"];
    Object.assign(config["models"]?.["routes"] ?? {}, { main: ["gpt/other-model"] });
    Object.assign(config["models"] ?? {}, { timeoutSeconds: 100 });
    Object.assign(config, { timezone: "Europe/Berlin" });
  });
  await expect.poll(applied).toHaveLength(1);
  asked.push(await family.say("@crab quick, too"));
  for (const group of ["ending", "leaving"]) await writeFile(join(host.home, "groups", group, "go"), "");
  const replies = await Promise.all(asked.map(({ id }) => host.replyTo(id)));
  const next = await family.ask("@crab quick");
  const refused = await leaving.say("@crab quick");

  expect(replies.map(({ text }) => text)).toEqual(["by test-model", "by test-model", "by test-model"]);
  const told = JSON.stringify(family.requests.at(-1)?.body);
  expect([...told.matchAll(/timezone=\\"(.*?)\\"/g)].map(([, zone]) => zone)).toEqual(["UTC", "UTC", "Europe/Berlin"]);
  expect(next.text).toBe("by other-model");
  expect(refused.status).not.toBe(202);
  await expect.poll(containers).toHaveLength(1);
});

test("a secret that is added is redacted, and the container gets the new way out; so is the one that it replaces", async () => {
  await using lent = await borrowed();
  const { host } = lent;
  const applied = await newEvents(host, "config.applied");
  const others = await host.containers();
  const containers = async () => (await host.containers()).filter((id) => !others.includes(id));
  const [first, second] = ["first-canary-5f0e7d", "second-canary-9ab14c"];
  const set = async (value: string): Promise<void> => {
    await edit(host, (config) => Object.assign(config["groups"]?.["secretive"] ?? {}, withSecret(value)));
    await host.control.call(applyConfig, {});
  };
  await host.ask("secretive", "@crab run echo hello");
  const before = await containers();

  await set(first);
  const hidden = await host.ask("secretive", `@crab run echo ${first}; ls /run`);
  await set(second);
  const both = await host.ask("secretive", `@crab run echo ${first} ${second}`);

  expect(before).toHaveLength(1);
  expect(hidden.text).toContain("[redacted]");
  expect([hidden.text, both.text].join()).not.toMatch(/canary/);
  expect(await containers()).not.toEqual(before);
  expect(await containers()).toHaveLength(1);
  expect(JSON.stringify(await applied())).not.toContain("canary");
});

test("mounts and size of a container change with the next turn; a mounts.json that cannot be used takes all mounts and is told", async () => {
  await using lent = await borrowed();
  const { host } = lent;
  const applied = await newEvents(host, "config.applied");
  const others = await host.containers();
  const containers = async () => (await host.containers()).filter((id) => !others.includes(id));
  const folder = join(dirname(host.home), "docs");
  await mkdir(folder);
  await writeFile(join(folder, "page"), "a page\n");
  const allowed = JSON.stringify({ roots: [{ path: folder, access: "ro" }] });
  const read = async () => (await host.ask("mounted", "@crab run cat /workspace/extra/docs/page")).text;
  const without = await read();

  await replace(join(host.home, "mounts.json"), allowed);
  await edit(host, (config) => {
    Object.assign(config["groups"]?.["mounted"] ?? {}, { mounts: [{ source: folder, target: "docs" }] });
    config["sandbox"] = { pids: 99 };
  });
  await expect.poll(applied).toHaveLength(1);
  const before = await containers();
  const withMount = await read();
  const after = await containers();
  await replace(join(host.home, "mounts.json"), "{");
  await expect
    .poll(() => statusOf(host))
    .toMatchObject({ state: "invalid", faults: [expect.stringMatching(/^mounts.json: /)] });
  const spoilt = await read();
  await replace(join(host.home, "mounts.json"), allowed);
  await expect.poll(() => statusOf(host)).toMatchObject({ state: "applied" });

  expect(after).toHaveLength(1);
  expect(before).not.toContain(after[0]);
  expect(without).not.toContain("a page");
  expect(withMount).toMatch(/^a page/);
  expect(spoilt).not.toContain("a page");
  expect(await read()).toContain("a page");
});

test("SIGHUP makes the host read its files and does not end it; many reloads leave nothing open", async () => {
  await using running = await startWithoutContainers(() => ({ text: "two" }), { process: "own" });
  const { host } = running;
  const open = async () => (await readdir(`/proc/${host.pid}/fd`)).length;
  const { ino } = await stat(host.home);
  const watched = async (): Promise<string[]> => {
    const texts = (await readdir(`/proc/${host.pid}/fdinfo`)).map((fd) =>
      readFile(`/proc/${host.pid}/fdinfo/${fd}`, "utf8").catch(() => ""),
    );
    return (await Promise.all(texts)).join("").match(/^inotify .*? ino:\w+/gm) ?? [];
  };
  // While no mounts.json is there its folder is watched, but for a second after each change in it.
  const countWithFolder = async (): Promise<number> => {
    let seen: string[] = [];
    await expect.poll(async () => (seen = await watched()).join()).toContain(`ino:${ino.toString(16)}`);
    return seen.length;
  };
  await host.ask("family", "@crab one");
  await edit(host, (config) => (config["assistant"] = { name: "first" }));
  await expect.poll(() => eventsOf(host, "config.applied")).toHaveLength(1);
  // To ask the host after each one would take longer than all of them.
  using applied = await openEventSource(`${host.url}/v1/events?type=config.applied`, host.headers);
  const before = [await open(), await countWithFolder()];

  for (let index = 0; index < 50; index += 1) {
    await edit(host, (config) => (config["models"] = { ...config["models"], timeoutSeconds: 100 + index }));
    if (index % 5 !== 0) process.kill(host.pid, "SIGHUP");
    await applied.until(({ data }) => data["type"] === "config.applied");
  }
  expect(await eventsOf(host, "config.applied")).toHaveLength(51);

  expect(host.isRunning).toBe(true);
  expect((await host.ask("family", "@first two")).text).toBe("two");
  const [fds = 0, watches = 0] = before;
  expect(Math.abs((await open()) - fds)).toBeLessThan(4);
  // A watch of something that is being closed is there for a moment longer.
  await expect.poll(() => countWithFolder()).toBeLessThanOrEqual(watches);
});

test("a host that kill -9 ends in the middle of a change works with the changed file at its next start", async () => {
  await using running = await startWithoutContainers(() => ({ text: "here" }));
  const { host } = running;
  await host.ask("family", "@crab one");

  for (const at of ["before", "after"]) {
    const hasDied = await host.dieAt(`${at}:record.config-loaded`, () =>
      edit(host, (config) => {
        config["assistant"] = { name: `claw${at}` };
        config["groups"] = { ...config["groups"], [at]: { channel: "http", chat: at } };
      }),
    );

    expect(hasDied).toBe(true);
    expect((await host.ask(at, `@claw${at} two`)).text).toBe("here");
  }
  expect((await host.cli("audit", "verify")).code).toBe(0);
});
