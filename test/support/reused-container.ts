import { createInterface } from "node:readline/promises";
import type { Writable } from "node:stream";

import type { ContainerExit } from "../../src/sandbox/engine/engine.ts";
import { noteContainer } from "./made-by-tests.ts";
import type { Sandbox } from "./sandbox.ts";

/** Runs each command that it reads; afterwards no process and no file of the command is left but in the mounts. */
const runner = `
import json, os, shutil, signal, subprocess, sys
def clear(folder):
    for entry in os.scandir(folder):
        shutil.rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)
for line in sys.stdin:
    with os.fdopen(os.memfd_create("output"), "w+b") as output:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.STDOUT}
        code = subprocess.run(json.loads(line), **streams).returncode
        output.seek(0)
        said = output.read().decode(errors="replace")
    try: os.kill(-1, signal.SIGKILL)
    except ProcessLookupError: pass
    for folder in ("/tmp", "/home/agent", "/dev/shm"): clear(folder)
    print(json.dumps({"code": code if code >= 0 else 128 - code, "output": said}), flush=True)
`;

/**
 * A container of the real profile in which commands run one after another, for tests that look at what a command can do
 * and not at the birth of its container, which takes many times as long.
 */
export class ReusedContainer implements AsyncDisposable {
  readonly #input: Writable;
  readonly #lines: AsyncIterator<string>;
  readonly #remove: () => Promise<void>;

  private constructor(input: Writable, lines: AsyncIterator<string>, remove: () => Promise<void>) {
    this.#input = input;
    this.#lines = lines;
    this.#remove = remove;
  }

  static async start(sandbox: Sandbox): Promise<ReusedContainer> {
    const { engine } = sandbox;
    const name = `crabpot-test-${process.pid}-${Date.now()}-reused`;
    noteContainer(name);
    const stdin = { OpenStdin: true, StdinOnce: true, AttachStdin: true };
    const id = await engine.create(name, { ...sandbox.body(["python3", "-u", "-c", runner]), ...stdin });
    const { input, output } = await engine.converse(id);
    const lines = createInterface({ input: output })[Symbol.asyncIterator]();
    await engine.start(id);
    return new ReusedContainer(input, lines, () => engine.remove(id));
  }

  /** Runs a command to its end. Its standard error is part of the output. */
  async run(command: readonly string[]): Promise<Pick<ContainerExit, "code"> & { readonly output: string }> {
    this.#input.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("The container has ended.");
    return JSON.parse(value) as { readonly code: number; readonly output: string };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#remove();
  }
}
