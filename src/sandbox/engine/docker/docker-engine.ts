import type { IncomingMessage } from "node:http";
import { addAbortSignal, finished, type Readable } from "node:stream";
import { json } from "node:stream/consumers";
import type Docker from "dockerode";
import { AppError, toError } from "../../../lib/app-error.ts";
import type {
  ContainerEngine,
  ContainerExit,
  ContainerSummary,
  ContainerStreams,
  CreateBody,
  EngineFacts,
  EngineVolume,
  Inspection,
} from "../engine.ts";
import {
  type ExitAnswer,
  type ImageAnswer,
  readFacts,
  readSummary,
  type StateAnswer,
  type SystemAnswer,
  type VersionAnswer,
  type VolumeAnswer,
  type VolumeListAnswer,
} from "./answers.ts";
import type { EngineAddress } from "./address.ts";
import { attachStreams, converseOver } from "./converse.ts";
import { demultiplex } from "./demultiplex.ts";
import { EngineClient, pathSegment, refusalStatus } from "./engine-client.ts";
import type { EngineModem } from "./engine-modem.ts";

/** No request takes longer in a healthy engine; a hung runtime must not hold the caller for ever. */
const requestLimitMs = 60_000;
const secondLookMs = 2_000;

type Ask<T> = (docker: Docker) => Promise<T>;

interface Leniency {
  /** HTTP statuses that mean nothing to do; the answer is undefined then. */
  readonly unless?: readonly number[];
  /** Error messages that mean the same: Podman reports a container's state with status 500. */
  readonly unlessSaid?: RegExp;
  readonly limitMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** An engine that speaks Docker's API: Docker itself, and Podman. Disposal rejects every call that is under way. */
export class DockerEngine implements ContainerEngine {
  readonly #client: EngineClient;
  readonly #closed = new AbortController();

  constructor(address: EngineAddress) {
    this.#client = new EngineClient(address);
  }

  async facts(signal?: AbortSignal): Promise<EngineFacts> {
    const [version, system] = await Promise.all([
      this.#ask("say its version", (docker) => docker.version(), { signal }),
      this.#ask("describe itself", (docker) => docker.info(), { signal }),
    ]);
    return readFacts(version as VersionAnswer, system as SystemAnswer, this.#client.url);
  }

  async create(name: string, body: CreateBody): Promise<string> {
    // Apart from each other: the library would send all of the body in the query as well.
    const request = { _query: { name }, _body: body } as Docker.ContainerCreateOptions;
    const created = await this.#ask(`create container ${name}`, (docker) => docker.createContainer(request));
    return (created as Docker.Container).id;
  }

  async start(id: string): Promise<void> {
    await this.#ask(`start container ${id}`, (docker) => containerOf(docker, id).start(), { unless: [304] });
  }

  async inspect(id: string): Promise<Inspection | undefined> {
    const ask: Ask<unknown> = (docker) => containerOf(docker, id).inspect();
    return (await this.#ask(`inspect container ${id}`, ask, { unless: [404] })) as Inspection | undefined;
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    const limitMs = requestLimitMs + graceSeconds * 1000;
    const ask: Ask<unknown> = (docker) => containerOf(docker, id).stop({ t: graceSeconds });
    await this.#ask(`stop container ${id}`, ask, { unless: [304, 404], limitMs });
  }

  async kill(id: string): Promise<void> {
    const unlessSaid = /can only kill running containers/;
    const ask: Ask<unknown> = (docker) => containerOf(docker, id).kill();
    await this.#ask(`kill container ${id}`, ask, { unless: [404, 409], unlessSaid });
  }

  async pause(id: string): Promise<void> {
    const unlessSaid = /already paused/;
    await this.#ask(`pause container ${id}`, (docker) => containerOf(docker, id).pause(), { unlessSaid });
  }

  async unpause(id: string): Promise<void> {
    const unlessSaid = /is not paused/;
    await this.#ask(`unpause container ${id}`, (docker) => containerOf(docker, id).unpause(), { unlessSaid });
  }

  async remove(id: string): Promise<void> {
    const action = `remove container ${id}`;
    await this.#ask(action, (docker) => containerOf(docker, id).remove({ force: true, v: true }), {
      unless: [404, 409],
    });
    // 409: somebody else is removing it at this moment. In all other cases this answers at once.
    await this.#ask(action, (docker) => containerOf(docker, id).wait({ condition: "removed" }), { unless: [404] });
  }

  async list(labels: Readonly<Record<string, string>>): Promise<ContainerSummary[]> {
    const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const containers = await this.#ask("list containers", (docker) =>
      docker.listContainers({ all: true, filters: { label } }),
    );
    return (containers as Docker.ContainerInfo[]).map(readSummary);
  }

  /**
   * `oomKilled` is what the engine has noticed: on cgroup v1 and under load it misses some, so exit code 137 without a
   * kill of ours points to it as well.
   */
  async waitForExit(id: string, signal: AbortSignal): Promise<ContainerExit> {
    const action = `wait for the end of container ${id}`;
    const life = AbortSignal.any([signal, this.#closed.signal]);
    try {
      const waiting = await this.#client.ask(action, life, (docker) => beginWait(docker, id));
      return await this.#exitOf(id, waiting);
    } catch (thrown) {
      signal.throwIfAborted();
      throw this.#client.failure(thrown, action);
    }
  }

  /** Ends without an error when the container ends, the engine goes away or this object is disposed. */
  async attach(id: string, only?: "stderr"): Promise<Readable> {
    const detached = new AbortController();
    const wish = { stream: true, stdout: only === undefined, stderr: true };
    const source = await this.#attach(id, (docker) => containerOf(docker, id).attach(wish), detached);
    const output = demultiplex();
    finished(source, () => output.end());
    finished(output, () => detached.abort());
    return source.pipe(output);
  }

  async converse(id: string): Promise<ContainerStreams> {
    const source = await this.#attach(id, (docker) => attachStreams(docker, containerOf(docker, id).id));
    // The library's signal no longer counts for a connection that was taken over.
    return converseOver(addAbortSignal(this.#closed.signal, source));
  }

  async #attach<T>(id: string, ask: Ask<T>, detached = new AbortController()): Promise<T> {
    const life = AbortSignal.any([detached.signal, this.#closed.signal]);
    const limit = setTimeout(() => detached.abort(new Error("it took too long")), requestLimitMs);
    return this.#client.ask(`attach to container ${id}`, life, ask).finally(() => clearTimeout(limit));
  }

  async image(
    reference: string,
  ): Promise<{ id: string; labels: Record<string, string>; config: Record<string, unknown> } | undefined> {
    const action = `look for image ${reference}`;
    const ask: Ask<unknown> = (docker) => docker.getImage(pathSegment(reference)).inspect();
    const answer = (await this.#ask(action, ask, { unless: [404] })) as ImageAnswer | undefined;
    return answer && { id: answer.Id, labels: { ...answer.Config?.Labels }, config: { ...answer.Config } };
  }

  async createVolume(...[name, options, labels]: Parameters<ContainerEngine["createVolume"]>): Promise<void> {
    const wish = { Name: name, Driver: "local", DriverOpts: { ...options }, Labels: { ...labels } };
    await this.#ask(`create volume ${name}`, (docker) => docker.createVolume(wish));
  }

  async volume(name: string): Promise<EngineVolume | undefined> {
    const ask: Ask<unknown> = (docker) => docker.getVolume(pathSegment(name)).inspect();
    const answer = (await this.#ask(`inspect volume ${name}`, ask, { unless: [404] })) as VolumeAnswer | undefined;
    return answer && { driver: answer.Driver, options: { ...answer.Options } };
  }

  async volumes(labels: Readonly<Record<string, string>>): Promise<string[]> {
    const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const filters = JSON.stringify({ label });
    const ask: Ask<unknown> = (docker) => docker.listVolumes({ filters });
    const { Volumes } = (await this.#ask("list volumes", ask)) as VolumeListAnswer;
    return (Volumes ?? []).map(({ Name }) => Name);
  }

  async removeVolume(name: string): Promise<boolean> {
    const ask: Ask<unknown> = (docker) => docker.getVolume(pathSegment(name)).remove();
    try {
      await this.#ask(`remove volume ${name}`, ask, { unless: [404] });
      return true;
    } catch (error) {
      if (refusalStatus(error) === 409) return false;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const message = `The connection to the container engine at ${this.#client.url} is closed.`;
    this.#closed.abort(new AppError("engine_unavailable", message));
    await this.#client[Symbol.asyncDispose]();
  }

  async #ask<T>(action: string, ask: Ask<T>, leniency: Leniency = {}): Promise<T | undefined> {
    const { unless, unlessSaid, limitMs, signal } = leniency;
    const limit = AbortSignal.timeout(limitMs ?? requestLimitMs);
    const signals = [this.#closed.signal, limit, ...(signal ? [signal] : [])];
    try {
      return await this.#client.ask(action, AbortSignal.any(signals), ask);
    } catch (thrown) {
      signal?.throwIfAborted();
      const status = refusalStatus(thrown);
      if (status !== undefined && (unless?.includes(status) || unlessSaid?.test(toError(thrown).message)))
        return undefined;
      throw thrown;
    }
  }

  /**
   * `waiting` is the answer to a wait for the next exit. Its head came when the engine had begun to wait; so an end
   * that the inspection does not show yet will be in its body. Podman misses one that comes at that very moment: a
   * second look finds it.
   */
  async #exitOf(id: string, waiting: IncomingMessage): Promise<ContainerExit> {
    const missed = Promise.withResolvers<ContainerExit>();
    const look = async (): Promise<void> => {
      const state = await this.#state(id);
      if (state?.Status === "exited" || state?.Status === "dead")
        missed.resolve({ code: state.ExitCode, oomKilled: state.OOMKilled });
    };
    const secondLook = setTimeout(() => void look().catch(() => undefined), secondLookMs).unref();
    try {
      await look();
      return await Promise.race([missed.promise, this.#exitTold(id, waiting)]);
    } finally {
      clearTimeout(secondLook);
      waiting.destroy();
    }
  }

  async #exitTold(id: string, waiting: IncomingMessage): Promise<ContainerExit> {
    const exit = (await json(waiting)) as ExitAnswer;
    if (exit.Error?.Message) throw new AppError("engine_refused", `Container ${id} was lost: ${exit.Error.Message}`);
    const after = await this.#state(id);
    return { code: exit.StatusCode, oomKilled: after?.OOMKilled ?? false };
  }

  async #state(id: string): Promise<StateAnswer | undefined> {
    return (await this.inspect(id))?.["State"] as StateAnswer | undefined;
  }
}

function containerOf(docker: Docker, id: string): Docker.Container {
  return docker.getContainer(pathSegment(id));
}

/** The answer as soon as its head is there; dockerode would wait for all of it. */
function beginWait({ modem }: Docker, id: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { _query: { condition: "next-exit" }, _body: {} };
  const path = `/containers/${pathSegment(id)}/wait?`;
  const request = { method: "POST", path, options, isStream: true, statusCodes: { 200: true } };
  (modem as EngineModem).dial(request, (error, answer) => (error ? reject(error) : resolve(answer as IncomingMessage)));
  return promise;
}
