import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect, test } from "vitest";

import { crabpot, jsonLines, newHome, startCrabpot, withoutEngine } from "../../../support/crabpot.ts";
import { startInTerminal } from "../../../support/pseudo-terminal.ts";

const isUp = (home: string) => expect.poll(() => existsSync(join(home, "control.sock"))).toBe(true);

const configState = async (home: string): Promise<unknown> => {
  const { stdout } = await crabpot({ home }, "status", "--json");
  return (jsonLines(stdout)[0]?.["config"] as { state: string } | undefined)?.state;
};

test.for([
  ["SIGTERM", 0],
  ["SIGQUIT", 131],
  ["SIGUSR1", 138],
] as const)("a host that gets %s ends in good order with %i", async ([signal, expected]) => {
  await using place = await newHome();
  const child = startCrabpot({ ...place, variables: withoutEngine }, "start");
  child.stderr.resume();
  await isUp(place.home);

  child.kill(signal);
  const [code] = (await once(child, "exit")) as [number | null];

  expect(code).toBe(expected);
  const events = jsonLines((await crabpot(place, "events", "tail", "--json")).stdout);
  expect(events.map(({ type }) => type)).toContain("host.stopped");
});

test("the second signal ends the process at once, with its own number", async () => {
  const module = resolve(import.meta.dirname, "../../../../src/lib/process/listen-for-signals.ts");
  const program = `import { listenForSignals } from ${JSON.stringify(module)};
    listenForSignals().received.then((code) => console.log(code));
    console.log("listens");
    setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  await expect.poll(() => said).toBe("listens\n");

  child.kill("SIGINT");
  await expect.poll(() => said).toBe("listens\n0\n");
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number | null];

  expect(code).toBe(143);
});

test("a host whose terminal is closed ends, and not with 0", async () => {
  await using place = await newHome();
  const terminal = startInTerminal({ ...place, variables: withoutEngine }, "start");
  await isUp(place.home);

  expect(await terminal.close()).toBe(129);
});

test("SIGHUP to a host that has left its terminal makes it read its configuration", async () => {
  await using place = await newHome();
  const terminal = startInTerminal({ ...place, variables: withoutEngine, hasLeft: true }, "start");
  await isUp(place.home);
  const { pid } = JSON.parse(await readFile(join(place.home, "host.json"), "utf8")) as { pid: number };

  await writeFile(join(place.home, "config.yaml"), "assistent: {}", { mode: 0o600 });
  process.kill(pid, "SIGHUP");

  await expect.poll(() => configState(place.home)).toBe("invalid");
  process.kill(pid, "SIGTERM");
  expect(await terminal.close()).toBe(0);
});
