import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { jsonLines, startCrabpot } from "../support/crabpot.ts";
import { openEventSource, type SentEvent } from "../support/event-source.ts";
import type { TestHost } from "../support/host.ts";
import { atTerminal } from "../support/pseudo-terminal.ts";
import { ScreenEmulator } from "../support/screen-emulator.ts";
import { modelKey, runsInOrder, startModelHost } from "../support/model-host.ts";
import { shareModelHost } from "../support/shared-host.ts";

const hosts = shareModelHost({
  process: "shared",
  groups: { grown: {}, begun: {}, printing: {}, late: {}, tailed: {} },
  withoutContainers: ["grown", "begun", "late", "tailed"],
});

async function subscribe(host: TestHost, query = "?deltas=1") {
  return openEventSource(`${host.url}/v1/events${query}`, host.headers);
}

/** Shown answers of the turns until their ends, put together. */
async function watchTurn(source: Awaited<ReturnType<typeof subscribe>>) {
  const deltas: SentEvent["data"][] = [];
  let answer = "";
  await source.until(({ event, data }) => {
    if (event !== "delta") return false;
    deltas.push(data);
    if (data["type"] === "reset") answer = "";
    if (data["type"] === "answer") answer += String(data["text"]);
    return data["type"] === "over";
  });
  return { deltas, answer, types: deltas.map(({ type }) => type) };
}

test("whoever watches sees the answer grow to what the chat gets, and of a try that failed nothing stays", async () => {
  const text = `<internal>let me see</internal>The key is ${modelKey}, and so on: ${"words ".repeat(30)}`;
  let tries = 0;
  const group = hosts.group("grown", () =>
    (tries += 1) === 1 ? { fault: "cut", answer: { text: "A first try that is cut off in the middle" } } : { text },
  );
  const { host } = group;
  using source = await subscribe(host);

  const asked = group.ask("@crab hi");
  const { deltas, answer, types } = await watchTurn(source);
  const reply = await asked;

  expect(reply.text).toContain("The key is [redacted], and so on");
  expect(answer).toBe(reply.text);
  expect(types).toContain("reset");
  expect(types.filter((type) => type === "answer").length).toBeGreaterThan(1);
  expect(JSON.stringify(deltas)).not.toContain(modelKey.slice(0, 8));
  expect(JSON.stringify(deltas)).not.toContain("let me see");
  expect(deltas[0]).toMatchObject({ group: "grown", channel: "http", chat: "grown", turn: reply.turn });
});

test("the beginning of an answer is seen while its end is not written yet", async () => {
  const seen = Promise.withResolvers<void>();
  const group = hosts.group("begun", () => ({
    text: "The first words, and more.",
    holds: seen.promise,
  }));
  const { host } = group;
  using source = await subscribe(host);

  const asked = group.ask("@crab hi");
  const first = await source.until(({ data }) => data["type"] === "answer");
  seen.resolve();

  expect("The first words, and more.").toContain(String(first.data["text"]));
  expect((await asked).text).toBe("The first words, and more.");
});

test("at a terminal the answer is seen while it is written, and stands there once when it is", async () => {
  const seen = Promise.withResolvers<void>();
  await using running = await startModelHost(() => ({ text: "Grown slowly.\nAnd told once.", holds: seen.promise }), {
    process: "shared",
    groups: { main: { channel: "terminal", trigger: "always" } },
    prepared: true,
  });
  await using person = atTerminal(running.host, 60, "start", "--terminal");
  await expect.poll(() => person.seen()).toContain("› ");

  person.type("hello\r");
  await expect.poll(() => person.seen()).toMatch(/Grown slowly\.[^]*And told/);
  const isAnswered = jsonLines((await running.host.cli("outbox", "list", "--json")).stdout).length > 0;
  seen.resolve();
  await expect.poll(() => person.seen()).toMatch(/main\/crab:\S* Grown slowly\./);
  person.type("\u0003");
  await person.ended;

  const screen = new ScreenEmulator(60);
  screen.write(person.seen());
  expect(isAnswered).toBe(false);
  expect(screen.lines().filter((line) => line.includes("Grown slowly."))).toEqual(["main/crab: Grown slowly."]);
  expect(screen.lines().filter((line) => line.includes("told once."))).toEqual(["  And told once."]);
});

test("what a command prints is seen while it runs", async () => {
  const command = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over";
  const group = hosts.group("printing", runsInOrder(command, "touch go"));
  const { host } = group;
  using source = await subscribe(host);

  const asked = group.ask("@crab run it");
  const doing = await source.until(({ data }) => data["type"] === "doing");
  const begun = await source.until(({ data }) => data["type"] === "output");
  await writeFile(join(host.home, "groups/printing/go"), "");
  const over = await source.until(({ data }) => data["type"] === "output" && String(data["text"]).includes("over"));
  const reply = await asked;

  expect(String(doing.data["text"])).toContain("running a command");
  expect(begun.data).toMatchObject({ tool: "shell", text: "begun\n" });
  expect(over.data["call"]).toBe(begun.data["call"]);
  expect(reply.text).toMatch(/begun\nover/);
});

test("an answer to which nobody came in time is not shown in part, and the next one is shown", async () => {
  const answering = Promise.withResolvers<void>();
  const watched = Promise.withResolvers<void>();
  let turns = 0;
  const group = hosts.group("late", async () => {
    if ((turns += 1) > 1) return { text: "The second answer." };
    answering.resolve();
    await watched.promise;
    return { text: "The first answer." };
  });
  const { host } = group;

  const first = group.ask("@crab one");
  await answering.promise;
  using source = await subscribe(host);
  watched.resolve();
  await first;
  await group.ask("@crab two");
  const { answer } = await watchTurn(source);

  expect(answer).toBe("The second answer.");
});

test("crabpot events tail --follow --deltas prints what turns do among the events, as JSON lines", async () => {
  const group = hosts.group("tailed", () => ({ text: "Hello there." }));
  const { host } = group;
  const tail = startCrabpot(host, "events", "tail", "--follow", "--deltas", "--json");
  let printed = "";
  tail.stdout.on("data", (chunk) => (printed += String(chunk)));
  // Earlier events come first.
  await expect.poll(() => printed).not.toBe("");

  await group.ask("@crab hi");
  await expect.poll(() => printed).toContain('"type":"over"');
  tail.kill("SIGINT");
  await once(tail, "close");

  const lines = jsonLines(printed) as { delta?: { type: string; text?: string } }[];
  const shown = lines.flatMap(({ delta }) => (delta?.type === "answer" ? [delta.text] : []));
  expect(shown.join("")).toBe("Hello there.");
});

test("--deltas without --follow is refused with what to do", async () => {
  const { code, stderr } = await hosts.running.host.cli("events", "tail", "--deltas");

  expect(code).toBe(2);
  expect(stderr).toContain("--follow");
});
