import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { admins, approvals, asks, bob, card, doesAsTold } from "../support/asked-calls.ts";
import { shareModelHost } from "../support/shared-host.ts";

const hosts = shareModelHost({
  groups: {
    stricter: {
      members: { "http:bob": "admin", "http:gus": "guest" },
      policy: {
        rules: [
          { tool: "shell", role: ">=admin", action: "ask" },
          { tool: "shell", role: "<admin", action: "ask", quorum: 2, approvers: "owner" },
        ],
      },
    },
    scripts: admins,
    folders: {
      ...admins,
      policy: {
        rules: [
          { tool: "shell", match: "cd *", action: "allow" },
          { tool: "shell", action: "ask" },
        ],
      },
    },
  },
  config: asks,
  withoutContainers: "all",
  shellHere: true,
});

test("what was allowed for an admin is asked again for a guest, by the rule for guests", async () => {
  const group = hosts.group("stricter", doesAsTold);
  const first = await group.say("@crab run echo push", bob);
  const asked = await card(group);
  await group.ask(`/approve ${asked.code} always`, bob);
  await group.replyTo(first.id);
  const again = await group.ask("@crab run echo push", bob);

  const { seq } = again;
  await group.say("@crab run echo push", { sender: { id: "gus", name: "Gus" } });
  const forGus = await card(group, seq);

  expect(again.text).toContain("so: push");
  expect(asked.text).toContain(
    "Longer than once, it covers this call in this folder, asked for by admin or higher, after reading",
  );
  expect(forGus.text).toContain("2 different people must allow it.");
  expect(await approvals(group)).toContainEqual(
    expect.objectContaining({
      scope: "always",
      role: "admin",
      quorum: 1,
      approvers: "admin",
      reason: expect.any(String),
    }),
  );
  expect((await hosts.running.host.cli("approvals", "deny", forGus.code)).code).toBe(0);
});

test("what was allowed in one folder is asked again in another, and an expansion is not allowed for good", async () => {
  const group = hosts.group("folders", doesAsTold);
  const { host } = group;
  await group.ask("@crab run cd /");
  const first = await group.say("@crab run rm -r build");
  const asked = await card(group);
  await group.ask(`/approve ${asked.code} always`, bob);
  await group.replyTo(first.id);
  const again = await group.ask("@crab run rm -r build");
  const moved = await group.ask("@crab run cd /usr");
  await group.say("@crab run rm -r build");
  const elsewhere = await card(group, moved.seq);
  const denied = await group.ask(`/deny ${elsewhere.code}`, bob);
  await group.say("@crab run echo $HOME");
  const expands = await card(group, denied.seq);
  const forGood = await group.ask(`/approve ${expands.code} always`, bob);
  const byOperator = await host.cli("approvals", "allow", expands.code, "--scope", "always");
  const listed = await host.cli("approvals", "list", "--group", "folders");

  expect(asked.text).toContain('In the folder "/".');
  expect(again.text).toContain("[exit code 1");
  expect(elsewhere.text).toContain('In the folder "/usr".');
  expect(expands.text).toContain(`/approve ${expands.code} [once|session|day] or`);
  expect(forGood.text).toContain("it can be allowed for a day at most");
  expect(byOperator.code).not.toBe(0);
  expect(listed.stdout).toContain("member or higher");
  expect((await host.cli("approvals", "deny", expands.code)).code).toBe(0);
});

test("a script stands on the card; one that is swapped meanwhile is not run, and is asked about again", async () => {
  const group = hosts.group("scripts", doesAsTold);
  const script = (text: string) => writeFile(join(group.host.home, "groups", "scripts", "x.sh"), text);
  await script("#!/bin/sh\necho good\n");
  const first = await group.say("@crab run ./x.sh || sh x.sh");
  const asked = await card(group);
  await script("#!/bin/sh\necho EVIL\n");
  await group.ask(`/approve ${asked.code} always`, bob);
  const swapped = await group.replyTo(first.id);
  await script("#!/bin/sh\necho good\n");
  const restored = await group.ask("@crab run ./x.sh || sh x.sh");
  await script("#!/bin/sh\necho EVIL\n");
  await group.say("@crab run ./x.sh || sh x.sh");
  const again = await card(group, restored.seq);

  expect(asked.text).toMatch(
    /\nIt runs "x\.sh" \(20 bytes, SHA-256 [0-9a-f]{12}\):\n```\n#!\/bin\/sh\necho good\n\n```\n/,
  );
  expect(swapped.text).toContain("Nothing was run: the file x.sh has changed since it was shown to people. Ask again.");
  expect(restored.text).toContain("good");
  expect(again.text).toContain("echo EVIL");
  expect(await approvals(group)).toContainEqual(
    expect.objectContaining({ scope: "always", scripts: [{ path: "x.sh", sha256: expect.any(String) }] }),
  );
  expect((await hosts.running.host.cli("approvals", "deny", again.code)).code).toBe(0);
});
