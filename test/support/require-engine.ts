import { AppError } from "../../src/lib/app-error.ts";
import { engineWithAgentImage } from "./engine.ts";

/** Run once before all tests: says what is missing, instead of a failure in each test that needs a container. */
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
}
