import { expect, test } from "vitest";

import { byMessage, finished, say, step } from "../../contracts/store-setup.ts";
import { startControlledHost } from "../../support/crabpot-control.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { listGroups } from "../../../src/operations/groups/operations.ts";
import { readStatus } from "../../../src/operations/host/operations.ts";
import { retryTurn } from "../../../src/operations/turns/operations.ts";
import { ofMember } from "../../support/lineages.ts";

test("what another chat has left under a group's name is neither counted nor retried", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  const { store, client } = host;
  const { id: session } = await store.sessions.open("main:whatsapp:before", "main");
  const left = { channel: "whatsapp", chat: "before" };
  const { seq } = await store.messages.insert(say("1", left), { group: "main", state: "waiting", at: 1 });
  await store.messages.insert(say("2", left), { group: "main", state: "waiting", at: 1 });
  const turn = { id: "t", session, group: "main", conversation: 1, ...byMessage, at: 1 };
  await store.turns.begin(turn, step("hello", { messages: [seq], cursor: seq, lineage: ofMember }));
  await store.turns.finish("t", { ...finished, state: "failed" });

  const retrying = client.call(retryTurn, { id: "t" });

  await expect(retrying).rejects.toMatchObject({
    code: "conflict",
    message: 'Turn t belongs to the chat "before" on channel whatsapp; the group "main" is another chat by now.',
  });
  expect((await client.call(readStatus, {})).waiting).toEqual([]);
  expect(await store.messages.ofTurn("t")).toMatchObject([{ state: "answered" }]);
});

test("when a group's instructions changed is told with the group", async () => {
  await using folder = await temporaryFolder();
  await using host = await startControlledHost(folder.path);
  const { store, client } = host;
  await store.groups.claimFolder({ name: "main", channel: "terminal", chat: "main" });
  const before = await client.call(listGroups, {});

  await store.groups.noteInstructions("main", "SOUL.md", {
    sha256: "a",
    bytes: 1,
    origins: [],
    changedAt: 1_600_000_000_000,
  });
  await store.groups.noteInstructions("main", "AGENTS.md", {
    sha256: "a",
    bytes: 1,
    origins: [],
    changedAt: 1_700_000_000_000,
  });
  await store.groups.noteInstructions("main", "USER.md", { sha256: "a", bytes: 1, origins: [], changedAt: undefined });

  expect(before).not.toHaveProperty("0.instructionsChangedAt");
  expect(await client.call(listGroups, {})).toMatchObject([{ name: "main", instructionsChangedAt: 1_700_000_000_000 }]);
});
