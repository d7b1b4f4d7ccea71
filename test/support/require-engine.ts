import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { AppError } from "../../src/lib/app-error.ts";
import { agentImagePath } from "../../src/sandbox/images/agent-image.ts";
import { checkoutFolder, engineWithAgentImage } from "./engine.ts";

const run = promisify(execFile);
/** Sources of the agent image, whose record is written by each set-up. */
const sources = ["container", "src/protocol", "src/lib", "Dockerfile.agent", "package-lock.json"];

/**
 * Run once before all tests: builds the agent image anew where what it is made from has changed since, and says what
 * is missing, instead of a failure in each test that needs a container.
 */
export default async function requireEngine(): Promise<void> {
  try {
    const { engine } = await engineWithAgentImage();
    await engine[Symbol.asyncDispose]();
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const fix = thrown.fix === undefined ? "" : ` To fix it: ${thrown.fix}`;
    throw new Error(`The tests need a container engine and the agent image. ${thrown.message}${fix}`, {
      cause: thrown,
    });
  }
  if (await isOlderThanSources()) await run(join(checkoutFolder, "scripts/setup"));
}

/** Has anything changed that could change the image? Only set-up knows whether it does. */
async function isOlderThanSources(): Promise<boolean> {
  const search = [...sources, "-cnewer", agentImagePath(checkoutFolder), "-print", "-quit"];
  const { stdout } = await run("find", search, { cwd: checkoutFolder });
  return stdout !== "";
}
