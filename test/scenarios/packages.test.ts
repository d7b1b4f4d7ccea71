import { randomBytes } from "node:crypto";

import { afterAll, expect, test } from "vitest";

import { jsonLines } from "../support/crabpot.ts";
import type { TestHost } from "../support/host.ts";
import { eventsOf } from "../support/host-records.ts";
import { startModelHost } from "../support/model-host.ts";
import type { ModelScript } from "../support/model-servers/model-server.ts";
import { packageMirror, removeImagesWith } from "../support/package-mirror.ts";
import { pruneImages } from "../../src/operations/images/operations.ts";

/** In names of packages, so that no image of an earlier run is taken. */
const run = randomBytes(4).toString("hex");
const code = /Code ([0-9A-Z]{6})/;
const bob = { sender: { id: "bob", name: "Bob" } };

/** Builds take what the machine and a mirror of Debian give them. */
const buildMs = 1_200_000;

afterAll(() => removeImagesWith(run));

/** Calls the tool that stands as JSON between the brackets of the message, and says what came of it. */
const calls: ModelScript = ({ messages }) => {
  const asked = messages.findLastIndex(({ text }) => text.includes("<messages"));
  const told = messages.slice(asked).find(({ role }) => role === "tool");
  if (told) return { text: `so: ${told.text}` };
  const [, wanted] =
    /\[\[(.*)\]\]/s.exec(
      (messages[asked]?.text ?? "")
        .replaceAll("&quot;", '"')
        .replaceAll("&apos;", "'")
        .replaceAll("&gt;", ">")
        .replaceAll("&amp;", "&"),
    ) ?? [];
  return wanted === undefined ? { text: "ok" } : { toolCalls: [JSON.parse(wanted) as { name: string; input: object }] };
};

function say(name: string, input: object): string {
  return `@crab do [[${JSON.stringify({ name, input })}]]`;
}

function shell(command: string): string {
  return say("shell", { command });
}

async function untilEvents(host: TestHost, type: string, count: number): Promise<void> {
  await expect.poll(async () => (await eventsOf(host, type)).length, { timeout: buildMs }).toBe(count);
}

async function imagesOf(host: TestHost): Promise<Record<string, unknown>[]> {
  return jsonLines((await host.cli("image", "list", "--json")).stdout);
}

test(
  "a group has its packages from its first turn on, for which it waits; what cannot be installed leaves it with what it had",
  async () => {
    const greets = `greets-${run}`;
    await using mirror = await packageMirror({ npm: { [greets]: { "index.js": "module.exports = 'greetings';" } } });
    const groups = {
      home: { main: true, trigger: "always" },
      family: { image: { apt: ["tree"], npm: [greets] } },
      twin: { image: { npm: [greets, greets], apt: ["tree"] } },
      plain: {},
    };
    await using running = await startModelHost(calls, { process: "shared", groups, variables: mirror.variables });
    const { host, model } = running;
    const look = shell(`node -p "require('${greets}')"`);

    const said = await host.say("family", look);
    const meanwhile = await host.ask("plain", shell("command -v tree || echo none"));
    const early = await host.cli("status");
    const first = await host.replyTo(said.id, { waitSeconds: buildMs / 1_000 });
    const prompt = model.requests.at(-1)?.system;
    const twin = await host.ask("twin", shell("tree --version"));
    const built = await eventsOf(host, "image.built");
    const ready = await imagesOf(host);
    const doctor = await host.cli("doctor", "--json");

    await host.cli("groups", "set", "family", "image", `{ npm: [missing-${run}] }`);
    await untilEvents(host, "image.failed", 1);
    const kept = await host.ask("family", shell("tree --version"));
    const told = model.requests
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join("\n");
    const again = await host.cli("image", "build", "--group", "family");
    const status = await host.cli("status", "--json");
    const notices = (await host.replies()).filter(({ kind, group }) => kind === "notice" && group === "home");

    await host.cli("groups", "unset", "family", "image");
    await host.cli("groups", "unset", "twin", "image");
    const without = await host.ask("family", shell("command -v tree || echo none"));
    await host.ask("twin", shell("true"));
    await expect.poll(() => host.control.call(pruneImages, {})).toEqual([]);
    expect((await host.cli("image", "prune")).stdout).toContain("Nothing");
    const left = await imagesOf(host);

    expect(meanwhile.text).toContain("so: none\n");
    expect(early.stdout).toContain("of group family are being installed");
    expect(first.text).toContain("so: greetings");
    expect((await host.replies()).filter(({ text }) => text.startsWith("The packages of this group"))).toMatchObject([
      { group: "family", kind: "notice" },
    ]);
    expect(prompt).toContain(`Installed besides the usual: apt: tree; npm: ${greets}.`);
    expect(twin.text).toContain("tree v2");
    expect(built).toMatchObject([{ data: { packages: { apt: ["tree"], pip: [], npm: [greets] } } }]);
    expect(ready.filter(({ groups: users }) => (users as string[]).length > 0)).toMatchObject([
      { state: "ready", groups: ["family", "twin"] },
    ]);
    expect(jsonLines(doctor.stdout)).toContainEqual(expect.objectContaining({ check: "packages" }));
    expect(kept.text).toContain("tree v2");
    expect(told).toContain("could not be installed; you go on without them");
    expect(again).toMatchObject({ code: 1 });
    expect(again.stdout).toContain(`missing-${run}`);
    expect(jsonLines(status.stdout)).toMatchObject([{ images: [{ group: "family", state: "failed" }] }]);
    expect(notices.filter(({ text }) => text.includes(`missing-${run}`))).toHaveLength(1);
    expect(without.text).toContain("so: none\n");
    expect(left.filter(({ packages }) => JSON.stringify(packages).includes(run))).toEqual([]);
    expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
  },
  buildMs,
);

test(
  "an agent asks for packages, an admin sees the list and allows it, and the agent is told when it has them, also after a restart",
  async () => {
    const greets = `asks-${run}`;
    const files = { "index.js": "module.exports = 'greetings';" };
    await using mirror = await packageMirror({ npm: { [greets]: files } });
    const groups = { home: { main: true } };
    const variables = mirror.variables;
    await using running = await startModelHost(calls, { groups, variables });
    const { host, model } = running;
    await host.cli("groups", "add", "club", "--channel", "http", "--chat", "club");
    await host.cli("groups", "set", "club", "members", '{ "http:bob": admin }');
    const before = await host.ask("club", shell(`node -p "require('${greets}')" 2>&1 | grep -o MODULE_NOT_FOUND`));

    const refused = await host.ask("club", say("request_packages", { npm: ["https://evil.example/x.tgz"] }));
    const said = await host.say("club", say("request_packages", { npm: [greets], reason: "to greet" }));
    const card = async () => (await host.replies()).find(({ text }) => code.test(text));
    await expect.poll(card).toBeDefined();
    const asked = (await card())?.text ?? "";
    const byMember = await host.ask("club", `/approve ${code.exec(asked)?.[1]}`);
    await host.ask("club", `/approve ${code.exec(asked)?.[1]}`, bob);
    const answer = await host.replyTo(said.id);
    await untilEvents(host, "image.built", 1);
    const after = await host.ask("club", shell(`node -p "require('${greets}')"`));
    const told = model.requests
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join("\n");
    const twice = await host.ask("club", say("request_packages", { npm: [greets] }));
    const shown = await host.cli("groups", "show", "club", "--json");
    await host.end("SIGKILL");
    await host.boot();
    const restarted = await host.ask("club", shell(`node -p "require('${greets}')"`));

    expect(before.text).toContain("MODULE_NOT_FOUND");
    expect(refused.text).toContain("is not the name of a package for npm");
    expect(asked).toContain(`\`\`\`\n+ npm: ${greets}\n\`\`\``);
    expect(asked).toContain("The agent says why: “to greet”");
    expect(byMember.text).toContain("is for admins to answer");
    expect(answer.text).toContain("It is allowed. The packages are being installed");
    expect(after.text).toContain("so: greetings\n");
    expect(told).toContain(`Installed in it is now besides what every agent has: npm: ${greets}.`);
    expect(twice.text).toContain("there is nothing to change");
    expect(jsonLines(shown.stdout)).toContainEqual(
      expect.objectContaining({ path: "image", value: { apt: [], pip: [], npm: [greets] }, from: "groups set" }),
    );
    expect(restarted.text).toContain("so: greetings\n");
    expect(await eventsOf(host, "image.built")).toHaveLength(1);
    expect(await host.cli("audit", "verify")).toMatchObject({ code: 0 });
  },
  buildMs,
);
