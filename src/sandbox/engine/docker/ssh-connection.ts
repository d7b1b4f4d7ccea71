import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { Duplex } from "node:stream";
import type { Surroundings } from "../surroundings.ts";
import type { SshRoute } from "./address.ts";
import { visible } from "../../../lib/text/visible.ts";

/** What `ssh`, and what its configuration starts, needs to know; nothing else of the environment is theirs. */
const passedOn = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "KRB5CCNAME"];
const keptWordsChars = 4_096;
/** An `ssh` that has ended may have left another one behind that holds its stderr open. */
const lastWordsMs = 1_000;
const killAfterMs = 2_000;

/**
 * A connection to the engine of another machine, or of another user: `docker system dial-stdio` there, started by the
 * system's `ssh`, as Docker's own client does it. So host keys are checked and keys found as in every other use of `ssh`.
 * Fails with the last line that `ssh` said. Is closed only when the process has ended.
 */
export class SshConnection extends Duplex {
  readonly #process: ChildProcessWithoutNullStreams;
  #words = "";

  constructor(route: SshRoute, env: Surroundings["env"]) {
    super();
    const variables = Object.fromEntries(passedOn.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
    // In a session of its own: an interrupt in the terminal is for the host, which may need its engine to end in good order.
    this.#process = spawn("ssh", sshArguments(route), { env: variables, cwd: "/", detached: true });
    const { stdin, stdout, stderr } = this.#process;
    stdout.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) stdout.pause();
    });
    stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#words = (this.#words + chunk).slice(-keptWordsChars);
    });
    // Why it cannot be written to is told by its end.
    stdin.on("error", () => {});
    this.#process.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "ENOENT" ? "there is no such program in PATH" : cause.message;
      this.destroy(new Error(`ssh cannot be started: ${reason}`, { cause }));
    });
    this.#process.once("exit", (code, signal) => {
      const conclude = (): void => {
        clearTimeout(limit);
        this.#conclude(code, signal);
      };
      const limit = setTimeout(conclude, lastWordsMs);
      this.#process.once("close", conclude);
    });
  }

  /** What Node's HTTP client calls on a socket that it needs no more: ends when everything is written. */
  destroySoon(): void {
    this.end(() => this.destroy());
  }

  override _read(): void {
    this.#process.stdout.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: () => void): void {
    this.#process.stdin.write(chunk, encoding, () => done());
  }

  override _final(done: () => void): void {
    this.#process.stdin.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const ssh = this.#process;
    if (ssh.pid === undefined || ssh.exitCode !== null || ssh.signalCode !== null) return done(error);
    const limit = setTimeout(() => ssh.kill("SIGKILL"), killAfterMs);
    ssh.once("exit", () => {
      clearTimeout(limit);
      done(error);
    });
    ssh.kill("SIGTERM");
  }

  #conclude(code: number | null, signal: NodeJS.Signals | null): void {
    if (code === 0) {
      this.push(null);
      return;
    }
    const ending = signal === null ? `exit code ${code}` : signal;
    const lastLine = this.#words.trimEnd().split("\n").at(-1)?.trim();
    this.destroy(new Error(visible(lastLine || `ssh ended with ${ending}`)));
  }
}

/**
 * Never asks a question: there is nobody to answer it. Where the user's configuration shares one connection among many `ssh`,
 * it must be kept by a process of its own: by one of ours, it would end with the request that happened to be the first.
 */
function sshArguments({ user, host, port }: SshRoute): string[] {
  const options = ["-T", "-o", "BatchMode=yes", "-o", "ControlPersist=60"];
  if (user !== undefined) options.push("-l", user);
  if (port !== undefined) options.push("-p", String(port));
  return [...options, "--", host, "docker", "system", "dial-stdio"];
}
