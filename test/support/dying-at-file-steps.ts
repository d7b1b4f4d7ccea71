import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** A step of a command that changes a file. */
export interface FileStep {
  readonly number: number;
  /** Only steps count that write into a file, and half of it is written. */
  readonly isHalf: boolean;
}

/** The command that runs meanwhile. */
export interface DyingCommand {
  /** True once it got to its step. */
  readonly isDead: boolean;
}

const changing = ["chmod", "link", "mkdir", "mkdtemp", "rename", "rm", "utimes", "writeFile"] as const;
const ofHandles = ["writeFile", "chmod", "sync"] as const;
/** Linux gives this number to no process. */
const pidOfDead = 2 ** 22 + 1;

type Call = (...given: unknown[]) => Promise<unknown>;

/**
 * Lets a command in the test's process die, as by `kill -9`, right before its step with this number that changes
 * something below a path: from then on it changes nothing there. What it leaves carries the number of a process that
 * has ended. What counts are calls of node:fs/promises: the commands change files with nothing else.
 */
export async function dieAtFileStep(
  below: string,
  { number, isHalf }: FileStep,
  run: () => Promise<unknown>,
): Promise<DyingCommand> {
  let steps = 0;
  let isDead = false;
  const dieIfDue = (name: string, content: unknown, write: (half: Buffer) => void): void => {
    if (!isDead && (!isHalf || name === "writeFile")) {
      steps += 1;
      isDead = steps === number;
      const bytes = isDead && isHalf ? Buffer.from(content as string) : undefined;
      if (bytes) write(bytes.subarray(0, bytes.length / 2));
    }
    if (isDead) throw new Error("this command is dead");
  };
  using _ = patched(below, dieIfDue);
  await run();
  return { isDead };
}

function patched(below: string, dieIfDue: (name: string, content: unknown, write: (half: Buffer) => void) => void) {
  const calls = fs.promises as unknown as Record<string, Call>;
  const whole = { ...calls };
  const { pid } = process;
  const isBelow = (path: unknown): boolean => String(path).startsWith(below);
  for (const name of changing) {
    calls[name] = async (...given) => {
      const [path, content] = given;
      if (isBelow(path))
        dieIfDue(name, content ?? "", (bytes) => fs.writeFileSync(String(path), bytes, { flag: "wx" }));
      return (whole[name] as Call)(...given);
    };
  }
  calls["open"] = async (...given) => {
    const [path, flags] = given;
    if (!isBelow(path) || !/^[wa]/.test(String(flags))) return (whole["open"] as Call)(...given);
    dieIfDue("open", "", () => undefined);
    const handle = (await (whole["open"] as Call)(...given)) as Record<string, Call> & { readonly fd: number };
    for (const name of ofHandles) {
      const method = (handle[name] as Call).bind(handle);
      handle[name] = async (...said) => {
        dieIfDue(name, said[0] ?? "", (bytes) => fs.writeSync(handle.fd, bytes));
        return method(...said);
      };
    }
    return handle;
  };
  Object.defineProperty(process, "pid", { value: pidOfDead });
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]: () => {
      for (const name of [...changing, "open"]) calls[name] = whole[name] as Call;
      Object.defineProperty(process, "pid", { value: pid });
      syncBuiltinESMExports();
    },
  };
}
