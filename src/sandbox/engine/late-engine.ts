import type { Readable } from "node:stream";

import { memoize } from "../../lib/memoize.ts";
import type {
  ContainerEngine,
  ContainerExit,
  ContainerSummary,
  ContainerStreams,
  CreateBody,
  EngineFacts,
  EngineVolume,
  Inspection,
} from "./engine.ts";

/**
 * An engine that is looked for at the first call, and at each further one until it is found: the host may be there
 * before it. Calls reject with what looking for it rejects with.
 */
export class LateEngine implements ContainerEngine {
  readonly #engine: () => Promise<ContainerEngine>;
  #found: ContainerEngine | undefined;

  constructor(open: () => Promise<ContainerEngine>) {
    this.#engine = memoize(async () => {
      this.#found = await open();
      return this.#found;
    });
  }

  async facts(signal?: AbortSignal): Promise<EngineFacts> {
    return (await this.#engine()).facts(signal);
  }

  async create(name: string, body: CreateBody): Promise<string> {
    return (await this.#engine()).create(name, body);
  }

  async start(id: string): Promise<void> {
    return (await this.#engine()).start(id);
  }

  async inspect(id: string): Promise<Inspection | undefined> {
    return (await this.#engine()).inspect(id);
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    return (await this.#engine()).stop(id, graceSeconds);
  }

  async kill(id: string): Promise<void> {
    return (await this.#engine()).kill(id);
  }

  async pause(id: string): Promise<void> {
    return (await this.#engine()).pause(id);
  }

  async unpause(id: string): Promise<void> {
    return (await this.#engine()).unpause(id);
  }

  async remove(id: string): Promise<void> {
    return (await this.#engine()).remove(id);
  }

  async list(labels: Readonly<Record<string, string>>): Promise<ContainerSummary[]> {
    return (await this.#engine()).list(labels);
  }

  async waitForExit(id: string, signal: AbortSignal): Promise<ContainerExit> {
    return (await this.#engine()).waitForExit(id, signal);
  }

  async attach(id: string, only?: "stderr"): Promise<Readable> {
    return (await this.#engine()).attach(id, only);
  }

  async converse(id: string): Promise<ContainerStreams> {
    return (await this.#engine()).converse(id);
  }

  async image(reference: string): ReturnType<ContainerEngine["image"]> {
    return (await this.#engine()).image(reference);
  }

  async createVolume(...given: Parameters<ContainerEngine["createVolume"]>): Promise<void> {
    return (await this.#engine()).createVolume(...given);
  }

  async volume(name: string): Promise<EngineVolume | undefined> {
    return (await this.#engine()).volume(name);
  }

  async volumes(labels: Readonly<Record<string, string>>): Promise<string[]> {
    return (await this.#engine()).volumes(labels);
  }

  async removeVolume(name: string): Promise<boolean> {
    return (await this.#engine()).removeVolume(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#found?.[Symbol.asyncDispose]();
  }
}
