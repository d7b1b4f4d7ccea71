import type { Attack, Evidence } from "./attack.ts";
import type { Stage, StageGroup } from "./stage.ts";

/**
 * Prelude of attacks in Python. `attempt(name, action)` prints `refused <name> <error>` when the action raises OSError,
 * else `OPEN <name>`; `call(number, …)` makes a system call; the last line must be `print("done")`.
 */
export const attackPrelude = `
import ctypes, errno, os, socket, stat, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    ctypes.set_errno(0)
    padded = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *padded)
    if result < 0: raise OSError(ctypes.get_errno(), "syscall")
    return result
def attempt(name, action):
    try:
        got = action()
        print("OPEN", name, repr(got)[:80])
    except OSError as error:
        print("refused", name, errno.errorcode.get(error.errno, error.errno))
def write(path, text="x"):
    with open(path, "w") as file: file.write(text)
def x86_64(): return os.uname().machine == "x86_64"
`;

/** Text that only a program which has come to its end has printed, and nothing that it tried was open. */
export function allRefused(output: string): Evidence {
  const open = output.split("\n").filter((line) => line.startsWith("OPEN"));
  const refused = output.match(/^refused /gm)?.length ?? 0;
  const isDone = /^done$/m.test(output);
  if (open.length > 0) return { seen: open.join("; "), holds: false };
  if (!isDone) return { seen: `the program did not finish: ${output.slice(-200)}`, holds: false };
  return { seen: `${refused} refused`, holds: true };
}

/** Whether a text would steer the terminal that it is printed on, or turn a line's direction. */
export function steersTerminal(text: string): boolean {
  return ["\u001b", "\u009b", "\u0007", "\u202e"].some((character) => text.includes(character));
}

type InsideAttack = Pick<Attack, "id" | "title" | "expected"> &
  Partial<Pick<Attack, "audit" | "hostStaysAwake" | "quick" | "skip">> & {
    readonly program: string;
    readonly group?: StageGroup;
    readonly judge?: (output: string, stage: Stage) => Evidence | Promise<Evidence>;
  };

/** An attack that is one Python program in the container. Contained unless it prints a line that begins with `OPEN`. */
export function pythonAttack({ program, group = "red", judge = allRefused, ...attack }: InsideAttack): Attack {
  const command = `python3 -I - <<'REDTEAM'\n${attackPrelude}${program}\nprint("done")\nREDTEAM`;
  return {
    from: "container",
    audit: { type: "tool-call", where: (record) => record.group === group, command },
    ...attack,
    attempt: async (stage) => judge((await stage.shell(group, command)).output, stage),
  };
}

/**
 * An attack that is one shell script in the container. Must print `done` at its end, and `OPEN …` for what should not
 * be.
 */
export function shellAttack({ program, group = "red", judge = allRefused, ...attack }: InsideAttack): Attack {
  return {
    from: "container",
    audit: { type: "tool-call", where: (record) => record.group === group, command: program },
    ...attack,
    attempt: async (stage) => judge((await stage.shell(group, program)).output, stage),
  };
}
