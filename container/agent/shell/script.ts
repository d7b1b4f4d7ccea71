/** The last completed call's surroundings, as bash itself wrote them; text of raw bytes (latin1). */
export interface ShellState {
  readonly workingDirectory: string;
  /** Lines of `declare -x`. */
  readonly exports: string;
}

/**
 * Numbers that no script uses by habit. `output` is where commands print to, `control` where bash reports the end of a
 * call; both are closed for what the commands start, so that nothing in the background can hold or fake them by
 * accident.
 */
const descriptor = { output: 251, control: 252 } as const;

/** Every process of a shell's life inherits it, so that those that left the process group are found again. */
export const shellMark = "CRABPOT_SHELL";

/**
 * First lines of a new shell. It reads commands from stdin, has its output as 1 and the control pipe as 3, and prints
 * nothing itself, as traces and notices would mix with the commands' output.
 */
export function openingScript(mark: string, state: ShellState | undefined): Buffer {
  const restore = state ? `${state.exports}\nbuiltin cd -- ${quote(state.workingDirectory)}` : "";
  const lines = [
    `exec ${descriptor.output}>&1 ${descriptor.control}>&3 3>&- >/dev/null 2>&1`,
    // The kernel then prefers the shell and what it starts to the agent when memory runs out.
    "builtin echo 1000 >/proc/self/oom_score_adj",
    restore,
    `builtin export ${shellMark}=${mark}`,
    "",
  ];
  return Buffer.from(lines.join("\n"), "latin1");
}

/**
 * Runs one command in the shell itself (no subshell, no function: `cd`, `export`, `declare` and functions must stay),
 * then reports status, working directory and exports, and prints the end mark behind the last byte of output.
 */
export function callScript(command: string, endMark: string): Buffer {
  const { output, control } = descriptor;
  const lines = [
    `builtin eval -- ${quote(command)} </dev/null >&${output} 2>&1 ${output}>&- ${control}>&-`,
    `builtin printf '%s\\0%s\\0' "$?" "$PWD" >&${control}`,
    `builtin declare -px >&${control}`,
    `builtin printf '\\0' >&${control}`,
    `builtin printf '%s' ${quote(endMark)} >&${output}`,
    "",
  ];
  return Buffer.from(lines.join("\n"));
}

export interface CallReport {
  readonly exitCode: number;
  readonly state: ShellState;
}

/** Parses what `callScript` writes to the control pipe; undefined until it is all there. */
export function parseReport(bytes: Buffer): CallReport | undefined {
  const [status, workingDirectory, exports, rest] = bytes.toString("latin1").split("\0", 4);
  if (status === undefined || workingDirectory === undefined || exports === undefined || rest === undefined) {
    return undefined;
  }
  return { exitCode: Number(status), state: { workingDirectory, exports } };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
