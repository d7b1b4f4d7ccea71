import { rmdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { openEngine, openImageBuilder } from "../src/sandbox/engine/catalog.ts";
import { AppError, toError } from "../src/lib/app-error.ts";
import { ensureAgentImage } from "./steps/agent-image.ts";
import { ensureBaseImage } from "./steps/base-image.ts";
import { ensureEngine } from "./steps/engine.ts";
import { linkCommand } from "./steps/own-link.ts";
import { say } from "./steps/say.ts";

/**
 * Run by scripts/setup, which has taken the lock under this process's id. Exit code 3: something must be mended first.
 */
const checkoutFolder = resolve(import.meta.dirname, "..");
const surroundings = { env: process.env, homeFolder: homedir() };

/** Does one step and says what came of it and how long it took. */
async function step<T>(name: string, act: () => Promise<{ result: T; words: string }>): Promise<T> {
  const started = performance.now();
  try {
    const { result, words } = await act();
    say(`${name}: ${words} (${((performance.now() - started) / 1000).toFixed(2)} s)`);
    return result;
  } catch (thrown) {
    say(`${name}: failed. ${toError(thrown).message}`);
    throw thrown;
  }
}

async function setUp(): Promise<void> {
  await step("node", async () => ({ result: undefined, words: `${process.version}, ${process.execPath}` }));
  await step("engine", async () => ({ result: undefined, words: await ensureEngine(surroundings) }));
  await using engine = await openEngine(surroundings);
  const builder = await openImageBuilder(surroundings);
  const context = { engine, builder, checkoutFolder, env: process.env };
  const base = await step("base image", async () => {
    const image = await ensureBaseImage(context);
    return { result: image, words: image.reference };
  });
  await step("agent image", async () => ({ result: undefined, words: await ensureAgentImage(context, base.id) }));
  const link = await linkCommand(checkoutFolder, surroundings);
  if (link !== undefined) say(`to type crabpot from anywhere: ${link}`);
}

process.on("exit", () => {
  const lock = join(checkoutFolder, "dist", "setup.lock");
  rmSync(join(lock, String(process.pid)), { force: true });
  try {
    rmdirSync(lock);
  } catch {
    // Another set-up is in it, or this one was not started by scripts/setup.
  }
});
// The interrupt ends the command that is running; the step then fails and clears up. A second one ends this at once.
process.once("SIGINT", () => {});

try {
  await setUp();
} catch (thrown) {
  if (thrown instanceof AppError && thrown.fix !== undefined) say(`To fix it: ${thrown.fix}`);
  else if (!(thrown instanceof AppError)) say(toError(thrown).stack ?? "");
  process.exitCode = 3;
}
