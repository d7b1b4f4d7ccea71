import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

/** A program of `bench/programs` that runs beside the bench, so that it does not take its event loop. */
export interface Helper extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Its first words when ready. */
  readonly greeting: unknown;
}

export async function startHelper(name: string, ...parameters: string[]): Promise<Helper> {
  const child = fork(resolve(import.meta.dirname, "../programs", `${name}.ts`), parameters, { stdio: "inherit" });
  const [greeting] = (await once(child, "message")) as [unknown];
  return {
    child,
    greeting,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}
