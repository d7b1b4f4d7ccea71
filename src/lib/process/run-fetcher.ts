import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { AppError, errorCode, toError } from "../app-error.ts";
import { visibleLines } from "../text/visible.ts";

/** Bounds on a program that fetches. */
export interface FetcherLimits {
  readonly timeoutMs: number;
  /** Maximum bytes of output. */
  readonly outputBytes: number;
  /** Maximum bytes of one written file. */
  readonly fileBytes: number;
}

export interface FetcherRun {
  readonly cwd: string;
  /** The host's environment; keys in it are not passed on. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly limits: FetcherLimits;
  readonly signal?: AbortSignal | undefined;
}

/** Environment variables that fetching programs need: paths, proxies, their settings. None of the host's keys. */
const passedOn =
  /^(?:PATH|HOME|USER|LANG|LC_\w+|TMPDIR|XDG_\w+|SSH_AUTH_SOCK|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|(?:https?|all|no)_proxy|git_\w+|npm_config_\w+)$/i;
const blockBytes = 512;

/**
 * Runs a program that fetches and gives what it has printed. Rejects with what `execFile` says of its failure: see
 * `whyFetchFailed`.
 */
export async function runFetcher(
  program: string,
  args: readonly string[],
  { cwd, variables, limits, signal }: FetcherRun,
): Promise<string> {
  const passed = Object.entries(variables).filter(([name]) => passedOn.test(name));
  const allowed = { GIT_TERMINAL_PROMPT: "0", GIT_ALLOW_PROTOCOL: "https:http:ssh:git:file" };
  const script = `ulimit -f ${limits.fileBytes / blockBytes}; command -v "$1" >/dev/null || exit 127; exec "$@"`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script, "sh", program, ...args], {
    cwd,
    env: { ...Object.fromEntries(passed), ...allowed },
    timeout: limits.timeoutMs,
    maxBuffer: limits.outputBytes,
    ...(signal && { signal }),
  });
  return stdout;
}

export interface FailedFetch {
  readonly program: string;
  readonly timeoutMs: number;
  /** Advice when the program is missing. */
  readonly instead: string;
  /** Position of the reason in the program's output. */
  readonly says: "first" | "last";
}

const shownLines = 3;

/** Returns the reason of a failure, as the end of a sentence. Throws `setup_required` when the program is missing. */
export function whyFetchFailed(cause: unknown, { program, timeoutMs, instead, says }: FailedFetch): string {
  if (errorCode(cause) === "127")
    throw new AppError("setup_required", `The program ${program} is needed for this and is not installed.`, {
      fix: `Install ${program}, or ${instead}.`,
    });
  const { stderr = "", killed = false } = cause as { readonly stderr?: string; readonly killed?: boolean };
  if (killed) return `it took longer than ${timeoutMs / 1000} seconds`;
  const printed = visibleLines(stderr).trim().split("\n").map(withoutPrefix);
  const lines = says === "first" ? printed.slice(0, shownLines) : printed.slice(-shownLines);
  return (
    withoutPassword(
      lines
        .filter((line) => line !== "")
        .join(" ")
        .replace(/(?<!\.)\.+$/, ""),
    ) || withoutPassword(toError(cause).message).slice(0, 300)
  );
}

/** npm says on each line that it is npm, and that this is an error. */
function withoutPrefix(line: string): string {
  return line.replace(/^npm (?:error|ERR!) ?(?:code E\w+$|E?\d{3} |notarget )?/, "").trim();
}

/** Addresses may hold one. */
export function withoutPassword(text: string): string {
  return text.replaceAll(/:\/\/[^/@\s]+@/g, "://***@");
}
