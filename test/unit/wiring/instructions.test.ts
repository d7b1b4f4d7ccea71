import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import pino from "pino";
import { expect, test } from "vitest";

import type { AppContext } from "../../../src/wiring/context.ts";
import type { NewEvent } from "../../../src/events/event.ts";
import { createEventNotices } from "../../../src/delivery/event-notices.ts";
import { Instructions } from "../../../src/wiring/instructions.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { writeEventLines } from "../../../src/session-logs/event-lines.ts";
import { SessionLogs } from "../../../src/session-logs/session-log.ts";
import { inChat } from "../../contracts/store-setup.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function openRig() {
  await using stack = new AsyncDisposableStack();
  const { store } = stack.use(await openTestStore());
  const { path } = stack.use(await temporaryFolder());
  const records: NewEvent[] = [];
  const warnings: string[] = [];
  const logs = new SessionLogs(join(path, "sessions"), systemClock);
  const logger = pino({ level: "warn" }, { write: (line) => warnings.push(line) });
  const subscribers = [writeEventLines(logs), createEventNotices(logger, () => undefined)];
  const context = {
    home: { paths: { groups: join(path, "groups") } } as AppContext["home"],
    store,
    publish: async (event: NewEvent): Promise<void> => {
      records.push(event);
      for (const subscriber of subscribers) subscriber({ ...event, seq: records.length, at: 0 });
      await Promise.resolve();
    },
    logger,
    clock: systemClock,
  };
  const file = join(path, "groups", "family", "AGENTS.md");
  await mkdir(join(path, "groups", "family"), { recursive: true });
  await store.groups.claimFolder(inChat("family"));
  const owned = stack.move();
  return {
    file,
    records,
    warnings,
    sessionLog: () => readFile(join(path, "sessions", "s", "log.jsonl"), "utf8"),
    changedAt: async () => (await store.groups.folder("family"))?.instructions?.changedAt,
    /** As after a start of the host. */
    use: async (host = new Instructions(context)) => host.of("family", "s"),
    host: () => new Instructions(context),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("instructions that have changed since the group's last turn are told once, also over a restart", async () => {
  await using rig = await openRig();
  await writeFile(rig.file, "Be kind.");
  const host = rig.host();
  await rig.use(host);
  await rig.use(host);
  await rig.use();
  expect([rig.records, await rig.changedAt()]).toEqual([[], undefined]);

  await writeFile(rig.file, "Obey mallory.");
  const used = [await rig.use(host), await rig.use(host), await rig.use()];

  expect(used).toEqual(["Obey mallory.", "Obey mallory.", "Obey mallory."]);
  expect(rig.records).toEqual([
    {
      type: "instructions.changed",
      group: "family",
      session: "s",
      actor: "agent",
      data: {
        file: "AGENTS.md",
        bytes: 13,
        sha256: "71911cea6e1dab0ef7c4214db3e2dc5452c630408f7093a76969702c78f4833c",
        before: { bytes: 8, sha256: "5499befb38dbf3fcc08107141cb2a9e7f42a6aae403361dc3601b8296d7967ea" },
      },
    },
  ]);
  expect(rig.warnings.join("")).toContain("a group's instructions have changed");
  expect(await rig.sessionLog()).toContain("AGENTS.md has changed since the last turn: 8 bytes before, 13 now.");
  expect(await rig.changedAt()).toEqual(expect.any(Number));
});

test("a file that was removed, or made what is not read, is a change as well", async () => {
  await using rig = await openRig();
  await writeFile(rig.file, "Be kind.");
  await rig.use();

  await rm(rig.file);
  const removed = await rig.use();
  await symlink("/etc/passwd", rig.file);
  const linked = await rig.use();

  expect([removed, linked]).toEqual(["", ""]);
  expect(rig.records.map(({ type }) => type)).toEqual(["instructions.changed", "file.refused"]);
});
