import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { describe, expect, test } from "vitest";

import { systemClock } from "../../../../src/lib/time/clock.ts";
import { SessionLogs } from "../../../../src/records/session-logs/session-log.ts";
import { crabpot, jsonLines, newHome, startCrabpot } from "../../../support/crabpot.ts";

describe("logs", () => {
  test("are shown for all groups or one", async () => {
    await using place = await newHome();
    const logs = new SessionLogs(join(place.home, "sessions"), systemClock);
    logs.of({ id: "s1", group: "family" }).write("container", "info", "hello \u001b[31m");
    logs.of({ id: "s2", group: "work" }).write("host", "error", "it broke");

    const all = await crabpot(place, "logs");
    const family = await crabpot(place, "logs", "--group", "family", "--json");

    expect(all.stdout).toMatch(/family container: hello .*\n.*work host ERROR: it broke\n$/);
    expect(all.stdout).not.toContain("\u001b");
    expect(jsonLines(family.stdout)).toMatchObject([{ group: "family", source: "container" }]);
  });

  test("are shown since a time", async () => {
    await using place = await newHome();
    let now = Date.now() - 7_200_000;
    const clock = { ...systemClock, now: () => now };
    const log = new SessionLogs(join(place.home, "sessions"), clock).of({ id: "s1", group: "family" });
    log.write("agent", "info", "two hours ago");
    now += 7_190_000;
    log.write("agent", "info", "just now");

    const ago = async (since: string) => (await crabpot(place, "logs", "--since", since)).stdout.trimEnd().split("\n");

    expect(await ago("10m")).toEqual([expect.stringContaining("just now")]);
    expect(await ago("1d")).toHaveLength(2);
    expect(await ago(new Date(now - 60_000).toISOString())).toHaveLength(1);
    expect(await crabpot(place, "logs", "--since", "soon")).toMatchObject({ code: 2, stdout: "" });
  });

  test("of a group that there is not are an error that names the groups", async () => {
    await using place = await newHome({
      "config.yaml": "groups: { family: { channel: terminal, chat: f }, work: { channel: terminal, chat: w } }",
    });
    new SessionLogs(join(place.home, "sessions"), systemClock)
      .of({ id: "s1", group: "old" })
      .write("agent", "info", "x");

    const typo = await crabpot(place, "logs", "--group", "famly");
    const empty = await crabpot(place, "logs", "--group", "work");
    const removed = await crabpot(place, "logs", "--group", "old");

    expect(typo).toMatchObject({ code: 1, stdout: "" });
    expect(typo.stderr).toContain('There is no group "famly"; did you mean family? Known groups: family, old, work.');
    expect([empty.code, removed.stdout.includes("x")]).toEqual([0, true]);
  });

  test("are followed until the command is ended", async () => {
    await using place = await newHome();
    const logs = new SessionLogs(join(place.home, "sessions"), systemClock);
    logs.of({ id: "s1", group: "family" }).write("agent", "info", "first");
    const child = startCrabpot(place, "logs", "--follow");
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

    expect((await lines.next()).value).toContain("first");
    logs.of({ id: "s2", group: "work" }).write("agent", "info", "second");

    expect((await lines.next()).value).toContain("second");
    child.kill("SIGINT");
    await once(child, "close");
  });

  test("a reader that has seen enough is no fault", async () => {
    await using place = await newHome();
    const log = new SessionLogs(join(place.home, "sessions"), systemClock).of({ id: "s1", group: "family" });
    for (let line = 0; line < 400; line += 1) log.write("agent", "info", "x".repeat(1_000));
    const child = startCrabpot(place, "logs");
    let complaints = "";
    child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
    child.stdout.once("data", () => child.stdout.destroy());

    const [code] = (await once(child, "close")) as [number];

    expect([code, complaints]).toEqual([0, ""]);
  });
});
