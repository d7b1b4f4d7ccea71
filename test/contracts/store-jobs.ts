import { expect, test } from "vitest";

import type { NewJob } from "../../src/domain/work/job.ts";
import type { NewWork } from "../../src/domain/work/work.ts";
import { insertCommand, type OpenStore, restartableStore, stopping } from "./store-setup.ts";
import { ofMember } from "../support/lineages.ts";

const main = "main:terminal:chat";

/** Background jobs: each known once, over once, with the work that its end makes. */
export function testJobs(open: OpenStore): void {
  async function openHome() {
    const home = await restartableStore(open);
    const { id: session } = await home.store.sessions.open(main, "family");
    const job = (id: string, more: Partial<NewJob> = {}): NewJob => ({
      id,
      group: "family",
      session,
      generation: 1,
      turn: "t",
      command: `run ${id}`,
      startedAt: 100,
      lineage: ofMember,
      ...more,
    });
    const work = (id: string): NewWork => ({
      id: `job:${session}:${id}`,
      group: "family",
      session,
      cause: "job-ended",
      dueAt: 200,
      dedupe: `job:${session}:${id}`,
      replyTo: { kind: "nowhere" },
      origin: "member",
      lineage: ofMember,
      text: "it has ended",
    });
    return Object.assign(home, { session, job, work });
  }

  test("a job comes back as it was stored, also after a restart, and is stored once", async () => {
    await using home = await openHome();
    const job = home.job("job-1aaaaa");

    expect(await home.store.jobs.begin(job)).toBe(true);
    expect(await home.store.jobs.begin({ ...job, command: "another" })).toBe(false);
    const store = await home.restart();

    const running = { ...job, state: "running", endedAt: undefined, exitCode: undefined, reason: undefined };
    expect(await store.jobs.running()).toEqual([running]);
    expect(await store.jobs.running(home.session)).toEqual([running]);
    expect(await store.jobs.running("another")).toEqual([]);
  });

  test("its end is noted once, with its work; one that never was has none", async () => {
    await using home = await openHome();
    const { store, session, work } = home;
    await store.jobs.begin(home.job("job-1aaaaa"));
    const end = { state: "exited", at: 200, exitCode: 3 } as const;

    const first = await store.jobs.end({ session, id: "job-1aaaaa" }, end, work("job-1aaaaa"));
    const again = await store.jobs.end({ session, id: "job-1aaaaa" }, { state: "lost", at: 300 }, work("job-1aaaaa"));
    const never = await store.jobs.end({ session, id: "job-2bbbbb" }, end, work("job-2bbbbb"));

    expect(first).toMatchObject({ job: { state: "exited", endedAt: 200, exitCode: 3 }, addedWork: true });
    expect([again, never]).toEqual([undefined, undefined]);
    expect((await store.work.list({ limit: 9 })).map(({ id, cause }) => [id, cause])).toEqual([
      [`job:${session}:job-1aaaaa`, "job-ended"],
    ]);
    expect(await store.jobs.running()).toEqual([]);
  });

  test("the end of a job of an earlier conversation, or of an archived session, makes no work", async () => {
    await using home = await openHome();
    const { store, session, work } = home;
    const side = await store.sessions.open(`${main}:task:1`, "family", { kind: "task", parent: session });
    await store.jobs.begin(home.job("job-1aaaaa"));
    await store.jobs.begin(home.job("job-2bbbbb", { session: side.id }));
    await store.sessions.archive(side.id, 150);
    const seq = await insertCommand(store, "1", "new");
    await store.commands.carryOut(seq, { ...stopping, renews: [session] });

    const renewed = await store.jobs.end({ session, id: "job-1aaaaa" }, { state: "lost", at: 200 }, work("job-1aaaaa"));
    const archived = await store.jobs.end(
      { session: side.id, id: "job-2bbbbb" },
      { state: "lost", at: 200, reason: "gone" },
      { ...work("job-2bbbbb"), session: side.id },
    );

    expect([renewed?.addedWork, archived?.addedWork]).toEqual([false, false]);
    expect(await store.work.list({ limit: 9 })).toEqual([]);
  });

  test("they are listed newest first, those that run or all, of a group or of all", async () => {
    await using home = await openHome();
    const { store, session } = home;
    await store.jobs.begin(home.job("job-1aaaaa"));
    await store.jobs.begin(home.job("job-2bbbbb", { startedAt: 200 }));
    await store.jobs.begin(home.job("job-3ccccc", { startedAt: 300, group: "work" }));
    await store.jobs.end({ session, id: "job-1aaaaa" }, { state: "stopped", at: 400, reason: "enough" }, undefined);
    const ids = async (filter: object) =>
      (await store.jobs.list({ all: false, limit: 9, ...filter })).map(({ id }) => id);

    expect(await ids({})).toEqual(["job-3ccccc", "job-2bbbbb"]);
    expect(await ids({ all: true })).toEqual(["job-3ccccc", "job-2bbbbb", "job-1aaaaa"]);
    expect(await ids({ all: true, group: "family", limit: 1 })).toEqual(["job-2bbbbb"]);
  });

  test("those that ended long ago are forgotten, those that run never", async () => {
    await using home = await openHome();
    const { store, session } = home;
    await store.jobs.begin(home.job("job-1aaaaa"));
    await store.jobs.begin(home.job("job-2bbbbb"));
    await store.jobs.end({ session, id: "job-1aaaaa" }, { state: "exited", at: 200 }, undefined);

    expect(await store.jobs.prune(200, 10)).toBe(0);
    expect(await store.jobs.prune(201, 10)).toBe(1);
    expect((await store.jobs.list({ all: true, limit: 9 })).map(({ id }) => id)).toEqual(["job-2bbbbb"]);
  });
}
