import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { addFailedTurn, startControlledHost } from "../../../support/crabpot-control.ts";
import { crabpot, jsonLines, newHome, withoutEngine } from "../../../support/crabpot.ts";
import { onDisk } from "../../../support/temporary-folder.ts";
import { readStatus } from "../../../../src/operations/host/operations.ts";

const requestLimits = { open: 10, openOfSender: 3, perHour: 6, lifetimeMs: 1_000 };

describe("the command line", () => {
  test.for([
    ["an unknown command", ["dance"]],
    ["an unknown option", ["status", "--fast"]],
    ["a missing argument", ["turns", "show"]],
    ["a missing option", ["groups", "add", "x"]],
    ["two ways to name a chat", ["groups", "add", "x", "--code", "ABCDE", "--chat", "c"]],
    ["a wrong number", ["turns", "list", "--limit", "many"]],
    ["a wrong choice", ["turns", "list", "--state", "odd"]],
    ["no command at all", []],
    ["half a command", ["groups"]],
    ["nothing to retry", ["outbox", "retry"]],
    ["two things to retry", ["outbox", "retry", "5", "--all-dead"]],
    ["a number that is none", ["outbox", "retry", "5e3"]],
  ] as const)("ends with 2 and a hint on stderr for %s", async ([, args]) => {
    await using place = await newHome();

    const result = await crabpot(place, ...args);

    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).not.toBe("");
  });

  test.for([
    ["a command", ["\u001b[2J\u001b]0;owned\u0007"]],
    ["an argument that is too much", ["logs", "--", "\u001b[2J\u202e"]],
    ["a number", ["turns", "list", "--limit", "\u001b[2J"]],
  ] as const)("does not repeat what steers a terminal: %s", async ([, args]) => {
    await using place = await newHome();

    const { stderr } = await crabpot(place, ...args);

    expect(stderr).toContain("\\u{1b}[2J");
    expect(["\u001b", "\u202e", "\u0007"].filter((character) => stderr.includes(character))).toEqual([]);
  });

  test.for([
    ["status"],
    ["stop"],
    ["reload"],
    ["groups", "list"],
    ["groups", "remove", "x"],
    ["chats"],
    ["sessions", "list"],
    ["sessions", "stop", "x"],
    ["turns", "list"],
    ["turns", "show", "x"],
    ["turns", "retry", "x"],
    ["outbox", "list"],
    ["usage"],
    ["send", "main", "hello"],
    ["outbox", "retry", "--all-dead"],
    ["channels", "list"],
    ["channels", "login", "terminal"],
  ])("ends with 4 and says how to start one when no host is running: %s %s", async (args) => {
    await using place = await newHome();

    const result = await crabpot(place, ...args);

    expect(result).toMatchObject({ code: 4, stdout: "" });
    expect(result.stderr).toMatch(/No host is running\.\n +fix: Start one with `npm start`/);
  });

  test("changes nothing on the machine when it only looks", async () => {
    await using place = await newHome();

    await crabpot(place, "config", "check");
    await crabpot(place, "logs");
    await crabpot(place, "status");

    expect(await readdir(place.home)).toEqual([]);
  });

  test("tells its versions, with --json wherever it stands", async () => {
    await using place = await newHome();

    const results = await Promise.all([
      crabpot(place, "version", "--json"),
      crabpot(place, "--json", "version"),
      crabpot({ ...place, variables: withoutEngine }, "version", "--json"),
    ]);

    const [first, second, without] = results.map((result) => jsonLines(result.stdout)[0]);
    expect(first).toMatchObject({ crabpot: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node });
    expect(second).toEqual(first);
    expect(without).toMatchObject({ engine: null });
  });

  test("lists every command with --help and ends with 0", async () => {
    await using place = await newHome();

    const { code, stdout } = await crabpot(place, "--help");

    expect(code).toBe(0);
    for (const name of ["start", "status", "doctor", "groups", "chats", "mounts", "sessions", "turns"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    }
    for (const name of ["logs", "audit", "channels", "config", "version"]) expect(stdout).toContain(`  ${name} `);
  });
});

describe("config", () => {
  test("check accepts a good file and shows no secret", async () => {
    await using place = await newHome({ "config.yaml": 'gateway: { token: "${T}" }' });

    const result = await crabpot({ ...place, variables: { T: "very-secret" } }, "config", "check", "--json");

    expect(jsonLines(result.stdout)).toEqual([
      { ok: true, file: join(place.home, "config.yaml"), fromFile: true, announcements: [] },
    ]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
  });

  test("check tells every fault with its path and ends with 1", async () => {
    await using place = await newHome({ "config.yaml": "sandbx: {}\ntimezone: 1" });

    const [json, plain] = await Promise.all([
      crabpot(place, "config", "check", "--json"),
      crabpot(place, "config", "check"),
    ]);

    expect(json.code).toBe(1);
    expect(jsonLines(json.stdout)).toMatchObject([
      { ok: false, level: "error", path: "sandbx", detail: "unknown key; did you mean sandbox?" },
      { ok: false, level: "error", path: "timezone", detail: "must be text, not 1" },
    ]);
    expect(plain.stdout).toContain("  error: sandbx: unknown key; did you mean sandbox?\n");
  });

  test("check tells what a file that can be used leaves to think about, and ends with 0", async () => {
    await using place = await newHome({
      "config.yaml": "models: { providers: { gpt: { kind: openai, apiKey: k } } }",
    });
    const file = join(place.home, "config.yaml");

    const [json, plain] = await Promise.all([
      crabpot(place, "config", "check", "--json"),
      crabpot(place, "config", "check"),
    ]);

    const warning = { path: "models.providers.gpt", detail: expect.stringContaining("no route uses it") };
    expect(jsonLines(json.stdout)).toMatchObject([
      { ok: true, file, fromFile: true },
      { ok: true, level: "warning", file, ...warning, fix: "Set models.routes.main." },
    ]);
    expect(plain.code).toBe(0);
    expect(plain.stdout).toMatch(
      /is valid, with 1 warning:\n {2}warning: models.providers.gpt: no route uses it.*\n {4}fix: Set/,
    );
  });

  test("check refuses a file that others can write to, with the command that mends it", async () => {
    await using place = await newHome({ "config.yaml": "{}" });
    await chmod(join(place.home, "config.yaml"), 0o666);

    const result = await crabpot(place, "config", "check");

    expect(result.code).toBe(1);
    expect(result.stdout).toContain(`fix: chmod go-w ${join(place.home, "config.yaml")}`);
  });

  test("schema is a JSON Schema of the file", async () => {
    await using place = await newHome();

    const { stdout } = await crabpot(place, "config", "schema", "--json");

    expect(jsonLines(stdout)).toMatchObject([
      { $schema: "https://json-schema.org/draft/2020-12/schema", properties: { groups: {}, sandbox: {} } },
    ]);
  });
});

describe("mounts check", () => {
  const config =
    "groups: { family: { channel: terminal, chat: f, mounts: [{ source: ~/docs, target: docs, access: rw }] } }";

  test("says what each mount would get and ends with 1 if one is denied", async () => {
    await using place = await newHome({ "config.yaml": config }, onDisk);
    await mkdir(join(place.home, "..", "docs"));

    const denied = await crabpot(place, "mounts", "check", "family", "--json");
    const allowlist = { roots: [{ path: "~/docs", access: "ro" }] };
    await writeFile(join(place.home, "mounts.json"), JSON.stringify(allowlist), { mode: 0o600 });
    const granted = await crabpot(place, "mounts", "check", "family", "--json");

    expect(denied.code).toBe(1);
    expect(jsonLines(denied.stdout)).toEqual([
      {
        source: "~/docs",
        target: "docs",
        verdict: "denied",
        rule: "allowlist",
        reason: expect.stringContaining("mounts.json"),
      },
    ]);
    expect(granted.code).toBe(0);
    expect(jsonLines(granted.stdout)).toMatchObject([{ source: "~/docs", target: "docs", verdict: "ro" }]);
  });

  test("names the groups that there are when the one asked for is none", async () => {
    await using place = await newHome({ "config.yaml": config });

    const result = await crabpot(place, "mounts", "check", "work");

    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain('There is no group "work"; config.yaml has: family.');
  });
});

describe("with a running host", () => {
  test("status tells how it is doing", async () => {
    await using place = await newHome();
    await using host = await startControlledHost(place.home);

    const json = await crabpot(place, "status", "--json");
    const plain = await crabpot(place, "status");

    const { pid, home } = await host.client.call(readStatus, {});
    expect(jsonLines(json.stdout)).toMatchObject([{ pid, home, engine: { ok: true }, intake: { open: true } }]);
    expect(plain.stdout).toMatch(/^models +offline\/scripted$/m);
    expect(plain.stdout).toMatch(
      /^mount refused +site of group main: Denied: no root. See crabpot mounts check main$/m,
    );
  });

  test("groups are added, listed and removed; those of config.yaml cannot be removed", async () => {
    await using place = await newHome();
    await using host = await startControlledHost(place.home);

    const added = await crabpot(
      place,
      "groups",
      "add",
      "family",
      "--channel",
      "terminal",
      "--chat",
      "f",
      "--trigger",
      "always",
    );
    const listed = await crabpot(place, "groups", "list", "--json");
    const refused = await crabpot(place, "groups", "remove", "main");
    const removed = await crabpot(place, "groups", "remove", "family", "--json");

    expect(added).toMatchObject({ code: 0, stdout: "Added group family: chat f on terminal.\n" });
    expect(jsonLines(listed.stdout)).toMatchObject([{ name: "family", trigger: "always" }, { name: "main" }]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("config.yaml");
    expect(jsonLines(removed.stdout)).toEqual([{ removed: "family" }]);
    expect(await host.store.groups.list()).toEqual([]);
  });

  test("a group is added by the code of its chat's request", async () => {
    await using place = await newHome();
    await using host = await startControlledHost(place.home);
    const sender = { id: "a", name: "Ann" };
    const asked = { kind: "admission", channel: "terminal", chat: "choir", title: "Choir", sender, at: 1 } as const;
    await host.store.chats.seen({ channel: "terminal", chat: "choir", group: undefined, at: 1 });
    await host.store.requests.open({ ...asked, code: "ABCDE" }, { limits: requestLimits, outgoing: [] });

    const unknown = await crabpot(place, "groups", "add", "choir", "--code", "ZZZZZ");
    const added = await crabpot(place, "groups", "add", "choir", "--code", "abcde");

    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain('There is no request "ZZZZZ"');
    expect(added).toMatchObject({ code: 0, stdout: "Added group choir: chat choir on terminal.\n" });
  });

  test("chats that are no group yet are shown, with names that cannot steer the terminal", async () => {
    await using place = await newHome();
    await using host = await startControlledHost(place.home);
    await host.store.chats.seen({ channel: "terminal", chat: "evil\u001b[2J\u202e\nname", group: undefined, at: 5 });
    await host.store.chats.seen({ channel: "terminal", chat: "main", group: "main", at: 5 });

    const plain = await crabpot(place, "chats");
    const json = await crabpot(place, "chats", "--json");

    const lines = plain.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain("evil\\u{1b}[2J\\u{202e}\\nname");
    expect(json.stdout).not.toContain("\u202e");
    expect(jsonLines(json.stdout)).toMatchObject([{ chat: "evil\u001b[2J\u202e\nname", messages: 1 }]);
  });

  test("a chat that asked is let in or left silent by the code of its request", async () => {
    await using place = await newHome();
    await using host = await startControlledHost(place.home);
    const limits = { open: 9, openOfSender: 9, perHour: 9, lifetimeMs: 1e9 };
    for (const [code, title] of [
      ["AAAAA", "Bowling"],
      ["BBBBB", "Spam"],
    ] as const) {
      const who = { kind: "admission", channel: "terminal", sender: { id: "m", name: "M" } } as const;
      const asked = { ...who, code, chat: title, title, at: Date.now() };
      await host.store.requests.open(asked, { limits, outgoing: [] });
    }

    const approved = await crabpot(place, "chats", "approve", "aaaaa", "--name", "club", "--json");
    const again = await crabpot(place, "chats", "approve", "AAAAA");
    const denied = await crabpot(place, "chats", "deny", "BBBBB", "--json");
    const said = await crabpot(place, "outbox", "list", "--group", "club", "--json");

    expect(jsonLines(approved.stdout)).toEqual([
      { approved: "aaaaa", group: "club", channel: "terminal", chat: "Bowling" },
    ]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no request "AAAAA".') });
    expect(jsonLines(denied.stdout)).toEqual([{ denied: "BBBBB" }]);
    expect(await host.store.requests.get("BBBBB")).toMatchObject({ state: "denied" });
    expect(jsonLines(said.stdout)).toMatchObject([{ kind: "notice", text: expect.stringContaining("I am crab") }]);
    expect(host.records).toContainEqual({
      operation: "chats.approve",
      parameters: { code: "aaaaa", name: "club" },
      outcome: "done",
    });
  });

  test("a turn is listed, shown step by step, and retried", async () => {
    await using place = await newHome();
    await using host = await startControlledHost(place.home);
    await addFailedTurn(host.store, "t1");

    const listed = await crabpot(place, "turns", "list", "--state", "failed", "--json");
    const table = await crabpot(place, "turns", "list");
    const shown = await crabpot(place, "turns", "show", "t1");
    const full = await crabpot(place, "turns", "show", "t1", "--full", "--json");
    const retried = await crabpot(place, "turns", "retry", "t1", "--json");

    expect(jsonLines(listed.stdout)).toMatchObject([
      { id: "t1", state: "failed", reason: "no answer", member: "Ann", question: "please \u001b[31mlook", usd: 0.007 },
    ]);
    expect(table.stdout).toMatch(
      /^t1\tmain\tmain\tAnn\tfailed\t.*\t\$0\.007\tplease \\u\{1b\}\[31mlook \[no answer\]$/m,
    );
    expect(shown.stdout).toContain("Ann: please \\u{1b}[31mlook");
    expect(shown.stdout).toMatch(/^\+250 ms {2}model {2}offline\/scripted, 100 in, 7 out$/m);
    expect(shown.stdout).toContain('→ shell {"command":"ls"}');
    expect(shown.stdout).toContain("(4600 more)");
    expect(full.stdout).toContain("x".repeat(5_000));
    expect(jsonLines(retried.stdout)).toEqual([{ turn: "t1", requeued: 1 }]);
  });

  test("a channel's login is told line by line", async () => {
    await using place = await newHome();
    await using host = await startControlledHost(place.home);

    const linked = await crabpot(place, "channels", "login", "messenger", "--json");
    const terminal = await crabpot(place, "channels", "login", "terminal");
    const unknown = await crabpot(place, "channels", "login", "pigeon");

    expect(jsonLines(linked.stdout)).toEqual([{ pairingCode: "ABCD-1234" }, { state: "open" }]);
    expect(terminal).toMatchObject({ code: 0, stdout: "The channel terminal needs no login.\n" });
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(host.records.filter((record) => record.operation === "channels.login")).toHaveLength(6);
  });
});
