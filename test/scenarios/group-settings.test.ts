import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { groupOf, startModelHost, startWithoutContainers } from "../support/model-host.ts";
import { tailEvents } from "../../src/operations/events/operations.ts";
import { addGroup } from "../../src/operations/groups/operations.ts";
import { configHistory, editGroupSettings, editSettings } from "../../src/operations/settings/operations.ts";

/** Runs a command if it may, and says which model was asked. */
const script: Parameters<typeof startModelHost>[0] = (request) => {
  const done = request.messages.at(-1);
  if (done?.role === "tool") return { text: `${request.model}: ${done.text}` };
  return { toolCalls: [{ name: "shell", input: { command: `ls /workspace/extra; echo ran in ${groupOf(request)}` } }] };
};

const club = { name: "club", channel: "http", chat: "club" };

async function settingsOf(host: TestHost, group: string): Promise<Record<string, unknown>> {
  const { stdout } = await host.cli("groups", "show", group, "--json");
  return Object.fromEntries(jsonLines(stdout).map(({ path, value, from }) => [String(path), [value, from]] as const));
}

test("a group that came by a chat can be given every setting, durably and on record, and has the rest as everybody has it now", async () => {
  await using running = await startModelHost(script, {
    process: "shared",
    groups: { home: { main: true } },
    mounts: { roots: [] },
    variables: { CLUB_KEY: "sk-club-0123456789" },
    models: { routes: { main: ["gpt/test-model"], cheap: ["gpt/cheap-model"] } },
  });
  const { host } = running;
  const shared = join(host.home, "..", "shared");
  await mkdir(shared);
  await host.control.call(addGroup, club);
  const set = (...args: string[]) => host.cli("groups", "set", "club", ...args);

  const before = await host.ask("club", "@crab go");
  const made = [
    await set("trigger", "always"),
    await set("model", "cheap", "--json"),
    await set("policy", "{ tools: { write_file: deny } }"),
    await set("network", '{ allow: ["api.example:443"] }'),
    await set("secrets.API", "{ value: '${CLUB_KEY}', hosts: [\"api.example:443\"] }"),
  ];
  const refused = await Promise.all([
    set("model", "cheep"),
    set("policy.tools", "{ shel: deny }"),
    set("budget", "{ tokensPerDay: 3 }"),
    set("mounts", `[{ source: ${shared}, target: shared }]`),
    set("secrets.API.value", "sk-in-clear-0123456789"),
    set("chat", "elsewhere"),
    set("triger", "always"),
    host.cli("groups", "set", "clup", "trigger", "always"),
    host.cli("config", "unset", "models.routes.cheap"),
  ]);
  const after = await host.ask("club", "go on");
  // What it does not say follows the settings for everybody as they are now.
  await host.control.call(editSettings, { edits: [{ path: ["policy"], value: { tools: { shell: "deny" } } }] });
  const denied = await host.ask("club", "go on");
  await host.end("SIGTERM");
  await host.boot();
  const restarted = await host.ask("club", "and now");
  const shown = await settingsOf(host, "club");
  await host.cli("groups", "unset", "club", "model");
  await host.control.call(editSettings, { edits: [{ path: ["policy"], value: undefined }] });
  const unset = await host.ask("club", "go on");

  expect(before.text).toMatch(/^test-model: .*ran in club/s);
  expect(made.map(({ code, stderr }) => [code, stderr])).toEqual(made.map(() => [0, ""]));
  expect(jsonLines(made[1]?.stdout ?? "")).toMatchObject([
    { changed: ["groups.club.model"], changes: [{ path: "groups.club.model", to: "cheap", applies: "now" }] },
  ]);
  expect(made[3]?.stdout).toContain("applied with the next container: groups.club.network");
  expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
    [2, expect.stringContaining('groups.club.model: there is no route "cheep"; did you mean cheap?')],
    [2, expect.stringContaining("unknown tool shel; did you mean shell?")],
    [2, expect.stringContaining("is too small for any call of gpt/cheap-model")],
    [1, expect.stringMatching(/mount shared of group club: Denied/)],
    [2, expect.stringContaining("must be a variable")],
    [2, expect.stringContaining("cannot be set: a group is one chat")],
    [2, expect.stringContaining("groups.club.triger: unknown key; did you mean trigger?")],
    [1, expect.stringContaining("did you mean club?")],
    [2, expect.stringContaining('groups.club.model: there is no route "cheap"')],
  ]);
  expect(after.text).toMatch(/^cheap-model: .*ran in club/s);
  expect(denied.text).toContain('policy does not allow "shell"');
  expect(restarted.text).toContain('policy does not allow "shell"');
  expect(shown).toMatchObject({
    trigger: ["always", "groups set"],
    model: ["cheap", "groups set"],
    policy: [{ preset: "open", rules: [], tools: { write_file: "deny" } }, "groups set"],
    budget: [{}, "default"],
    secrets: [{ API: { value: "***" } }, "groups set"],
  });
  expect(unset.text).toMatch(/^test-model: .*ran in club/s);
  const history = await host.cli("config", "history", "groups.club", "--json");
  expect(jsonLines(history.stdout)).toMatchObject([
    { path: "groups.club.model", from: "cheap", via: "command", actor: "operator" },
    { path: "groups.club.secrets", to: { API: { value: "${CLUB_KEY}" } } },
    { path: "groups.club.network" },
    { path: "groups.club.policy" },
    { path: "groups.club.model", to: "cheap" },
    { path: "groups.club.trigger", to: "always" },
  ]);
  const query = { after: 0, last: 0, type: "settings.changed" };
  const events = await Array.fromAsync(host.control.follow(tailEvents, query));
  expect(events[0]).toMatchObject({ group: "club", data: { paths: ["groups.club.trigger"] } });
  const audit = await host.cli("audit", "tail", "--lines", "500", "--json");
  expect(audit.stdout).toContain('"settings-changed"');
  for (const text of [audit.stdout, history.stdout, JSON.stringify(events)])
    expect(text).not.toMatch(/sk-club|sk-in-clear/);
});

/** At once: a host that looks meanwhile sees the one or the other. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

test("a group with a setting that can no longer be used is not served and reported, and can be repaired", async () => {
  await using running = await startWithoutContainers(script, {
    groups: { home: { main: true } },
    models: { routes: { main: ["gpt/test-model"], cheap: ["gpt/cheap-model"] } },
  });
  const { host } = running;
  await host.control.call(addGroup, club);
  await host.control.call(editGroupSettings, { name: "club", edits: [{ path: ["model"], value: "cheap" }] });
  const file = join(host.home, "config.yaml");
  const good = await readFile(file, "utf8");
  await replaceFile(file, good.replace("cheap:", "other:"));
  const wrong = await host.cli("config", "apply");
  const meanwhile = await host.ask("club", "@crab go");
  const notices = (await host.replies()).filter(({ group }) => group === "home").map(({ text }) => text);
  await replaceFile(file, good);
  await host.end("SIGTERM");
  const offline = await host.cli("config", "unset", "models.routes.cheap");
  const noHost = await host.cli("groups", "set", "club", "trigger", "always");
  const configured = await host.cli("groups", "set", "home", "trigger", "always");
  await host.boot();

  const silent = await host.say("club", "@crab go");
  const mended = await host.cli("groups", "unset", "club", "model");
  const served = await host.cli("config", "apply");
  const answer = await host.ask("club", "@crab go");

  expect(wrong).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('groups.club.model: there is no route "cheap"') as string,
  });
  expect(meanwhile.text).toMatch(/^cheap-model: /);
  expect(notices).toEqual([expect.stringMatching(/^config.yaml was changed and cannot be used \(groups.club.model\)/)]);
  expect([offline.code, noHost.code, configured.code]).toEqual([0, 4, 0]);
  expect(silent.status).toBe(404);
  expect(host.output.join("")).toContain('is not served: groups.club.model: there is no route \\"cheap\\"');
  expect([mended.code, served.code]).toEqual([0, 0]);
  expect(answer.text).toMatch(/^test-model: /);
});

test("in a main group settings are shown and changed, but not what the operator alone decides; everybody sees which folders there are", async () => {
  await using running = await startWithoutContainers((request) => ({ text: `answered in ${groupOf(request)}` }), {
    groups: { home: { main: true }, family: { mounts: [{ source: "/nowhere/at/all", target: "gone" }] } },
    mounts: { roots: [] },
    variables: { CLUB_KEY: "sk-club-0123456789" },
  });
  const { host } = running;
  await host.control.call(addGroup, club);
  const say = async (text: string, group = "home") => (await host.ask(group, text)).text;

  const changed = await say("/set club trigger always");
  const again = await say("/set club trigger always");
  const inFile = await say("/set family catchUpMinutes 5");
  const shown = await say("/settings club");
  const refused = [
    await say("/set club secrets.API { value: x, hosts: [a.example:443] }"),
    await say("/set club mounts [{ source: /srv, target: srv, access: rw }]"),
    await say("/set club main true"),
    await say("/set club model ${CLUB_KEY}"),
    await say("/set club policy.tools { shel: deny }"),
    await say("/set club trigger"),
  ];
  // Not a command there, and not for the agent.
  await host.say("family", "/set club trigger mention");
  const answered = await host.ask("club", "no mention");
  const mounts = [await say("/mounts", "family"), await say("/mounts", "club")];
  const history = await host.control.call(configHistory, { path: undefined, limit: 20 });

  expect(changed).toBe('groups.club.trigger: not set → "always". In effect from the next message on.');
  expect(again).toBe("trigger of club is already set to that.");
  expect(inFile).toContain('groups.family.catchUpMinutes: not set → "5"');
  expect(shown).toContain("trigger: always (groups set)");
  for (const text of refused.slice(0, 4)) expect(text).toMatch(/cannot be set to this in a chat.* groups set club/);
  expect(refused[4]).toContain("unknown tool shel; did you mean shell?");
  expect(refused[5]).toContain("Use /set GROUP KEY VALUE");
  expect(refused.join()).not.toContain("sk-club");
  expect(answered.text).toBe("answered in club");
  expect(mounts).toEqual(["gone: refused (rule: source)", "I can use only the group's own folder here."]);
  expect(history.map(({ path, via, actor }) => [path, via, actor])).toEqual([
    ["groups.family.catchUpMinutes", "chat", "member:ann"],
    ["groups.club.trigger", "chat", "member:ann"],
  ]);
});

test("members see which models answer, admins choose, and what is no route is refused", async () => {
  await using running = await startWithoutContainers(script, {
    groups: { family: { trigger: "always" } },
    config: { people: { ann: { ids: ["http:ann"], role: "admin" } } },
    models: { routes: { main: ["gpt/test-model"], cheap: ["gpt/cheap-model", "gpt/test-model"] } },
  });
  const { host } = running;
  const bob = { sender: { id: "bob", name: "Bob" } };
  const say = async (text: string, by = {}) => (await host.ask("family", text, by)).text;

  const shown = await say("/model", bob);
  const refused = [await say("/model cheap", bob), await say("/model cheep"), await say("/model constructor")];
  const before = await say("go");
  const changed = [await say("/model cheap"), await say("/model cheap")];
  const after = await say("go", bob);
  const now = await say("/model", bob);

  expect(shown).toBe("main (in use): gpt/test-model\ncheap: gpt/cheap-model, then gpt/test-model");
  expect(refused).toEqual([
    "Changing settings needs an admin.",
    'There is no route "cheep". Did you mean cheap?',
    'There is no route "constructor". Routes: main, cheap.',
  ]);
  expect(before).toContain("test-model: ");
  expect(changed).toEqual([
    'groups.family.model: not set → "cheap". In effect from the next message on.',
    "The route is already cheap.",
  ]);
  expect(after).toContain("cheap-model: ");
  expect(now).toMatch(/^cheap \(in use\)/);
});
