import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { findAgentImage } from "../../src/sandbox/images/agent-image.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import type { ContainerEngine, ContainerExit } from "../../src/sandbox/engine/engine.ts";
import { noteContainer } from "./made-by-tests.ts";

export const checkoutFolder = resolve(import.meta.dirname, "../..");

/** Settings for finding the engine, as for a host started in this shell. */
export const surroundings = { env: process.env, homeFolder: homedir() };

/** The machine's container engine and the ID of the checkout's agent image. Throws when `npm run setup` has not run. */
export async function engineWithAgentImage(): Promise<{ engine: ContainerEngine; image: string }> {
  const engine = await openEngine(surroundings);
  const { id } = await findAgentImage(engine, checkoutFolder);
  return { engine, image: id };
}

export interface TestContainer extends AsyncDisposable {
  readonly id: string;
  readonly name: string;
}

/**
 * A container that is created, not started, and removed at the end of the scope. Without network; everything else as in
 * `options` (of the create body).
 */
export async function testContainer(
  engine: ContainerEngine,
  image: string,
  command: readonly string[],
  options: { readonly HostConfig?: object; readonly [key: string]: unknown } = {},
): Promise<TestContainer> {
  const name = `crabpot-test-${randomUUID()}`;
  noteContainer(name);
  const HostConfig = { NetworkMode: "none", ...options.HostConfig };
  const id = await engine.create(name, { Image: image, Cmd: command, NetworkDisabled: true, ...options, HostConfig });
  return { id, name, [Symbol.asyncDispose]: () => engine.remove(id) };
}

/** Runs a command in a container of the image to its end. Gives stdout and stderr together. */
export async function runInImage(
  command: readonly string[],
  options: { readonly HostConfig?: object; readonly [key: string]: unknown } = {},
): Promise<ContainerExit & { output: string }> {
  const { engine, image } = await engineWithAgentImage();
  await using container = await testContainer(engine, image, command, options);
  const output = text(await engine.attach(container.id));
  const exit = engine.waitForExit(container.id, AbortSignal.timeout(120_000));
  await engine.start(container.id);
  return { ...(await exit), output: await output };
}
