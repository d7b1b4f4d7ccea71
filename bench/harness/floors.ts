import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { hardenedHostConfig } from "../../src/sandbox/profile/profile.ts";
import { engineWithAgentImage } from "../../test/support/engine.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { startHelper } from "./child.ts";
import { listenPlainly, sendPlainly } from "./plain-mailbox.ts";

/** Does a thing once and says how many milliseconds it took. */
export type Probe = () => Promise<number>;

/** A round trip between two Node processes over files; the floor of everything that crosses a mailbox. */
export async function mailboxFloor(stack: AsyncDisposableStack): Promise<Probe> {
  const { path } = stack.use(await temporaryFolder());
  const [there, back] = [join(path, "there"), join(path, "back")];
  await mkdir(there);
  await mkdir(back);
  stack.use(await startHelper("plain-echo", there, back));
  let arrived: (() => void) | undefined;
  stack.use(listenPlainly(back, () => arrived?.()));
  let sent = 0;
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrived = resolve;
    const begun = performance.now();
    sent += 1;
    await sendPlainly(there, sent, JSON.stringify({ id: sent }));
    await promise;
    return performance.now() - begun;
  };
}

const user = { uid: 65_534, gid: 65_534 };
const size = { runtime: "runc", memoryMb: 1024, cpus: 1, pids: 256 };

/** The body of a container of the agent's image with the agent's limits, that runs something else. */
async function bareBody(folder: string, image: string, command: readonly string[]): Promise<Record<string, unknown>> {
  const targets = ["/workspace/group", "/workspace/global", "/mail/to-agent", "/mail/to-host"];
  const mounts = targets.map((Target) => ({ Type: "bind", Source: folder, Target, ReadOnly: true }));
  return {
    Image: image,
    User: "65534:65534",
    Cmd: command,
    Entrypoint: [],
    NetworkDisabled: true,
    HostConfig: { ...hardenedHostConfig(size, user), Mounts: mounts },
  };
}

/** Create and start of a container whose only program prints a byte, until that byte is here. */
export async function containerFloor(stack: AsyncDisposableStack): Promise<Probe> {
  const { engine, image } = await engineWithAgentImage();
  stack.use(engine);
  const { path } = stack.use(await temporaryFolder());
  const body = await bareBody(path, image, ["node", "-e", "process.stdout.write('x')"]);
  return async () => {
    const begun = performance.now();
    const id = await engine.create(`crabpot-bench-${process.pid}-${begun.toFixed(3)}`, body);
    try {
      const output = await engine.attach(id);
      const { promise: first, resolve } = Promise.withResolvers<number>();
      output.once("data", () => resolve(performance.now()));
      output.resume();
      await engine.start(id);
      return (await first) - begun;
    } finally {
      await engine.remove(id);
    }
  };
}

/** Runs a program of `bench/programs` in a container of the agent's image. Resolves with what it printed. */
export async function runInContainer(program: string, ...args: string[]): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const { engine, image } = await engineWithAgentImage();
  stack.use(engine);
  const { path } = stack.use(await temporaryFolder());
  const source = await readFile(new URL(`../programs/${program}.ts`, import.meta.url), "utf8");
  const body = await bareBody(path, image, ["node", "--input-type=module-typescript", "-e", source, ...args]);
  const id = await engine.create(`crabpot-bench-${process.pid}-${program}`, body);
  stack.defer(() => engine.remove(id));
  const output = await engine.attach(id);
  await engine.start(id);
  return await text(output);
}

/** Pauses and wakes a container that sleeps; the time of the waking. */
export async function unpauseFloor(stack: AsyncDisposableStack): Promise<Probe> {
  const { engine, image } = await engineWithAgentImage();
  stack.use(engine);
  const { path } = stack.use(await temporaryFolder());
  const body = await bareBody(path, image, ["node", "-e", "setInterval(() => {}, 1e6)"]);
  const id = await engine.create(`crabpot-bench-${process.pid}-sleeper`, body);
  stack.defer(() => engine.remove(id));
  await engine.start(id);
  return async () => {
    await engine.pause(id);
    const begun = performance.now();
    await engine.unpause(id);
    return performance.now() - begun;
  };
}

/** A line at the end of a file, on the disk. */
export async function syncFloor(stack: AsyncDisposableStack): Promise<Probe> {
  const { path } = stack.use(await temporaryFolder());
  const file = stack.use(await open(join(path, "log"), "a"));
  const line = Buffer.from(`${"x".repeat(500)}\n`);
  return async () => {
    const begun = performance.now();
    await file.appendFile(line);
    await file.datasync();
    return performance.now() - begun;
  };
}
