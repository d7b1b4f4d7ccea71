import type { IncomingMessage } from "node:http";
import { finished, type Readable } from "node:stream";
import { json } from "node:stream/consumers";
import { AppError, toError } from "../../../lib/app-error.ts";
import type {
  ContainerEngine,
  ContainerExit,
  ContainerSummary,
  CreateBody,
  EngineFacts,
  Inspection,
} from "../engine.ts";
import {
  type ContainerAnswer,
  type ExitAnswer,
  type ImageAnswer,
  readFacts,
  readSummary,
  type StateAnswer,
  type SystemAnswer,
  type VersionAnswer,
} from "./answers.ts";
import { EngineConnection, type EngineRequest, refusalStatus } from "./connection.ts";
import { demultiplex } from "./demultiplex.ts";
import type { EngineAddress } from "./locate.ts";

/** No request takes longer in a healthy engine; a hung runtime must not hold the caller for ever. */
const requestLimitMs = 60_000;
const secondLookMs = 2_000;

interface Wish extends EngineRequest {
  /** Refusals with these HTTP statuses mean that there is nothing to do; the answer is undefined then. */
  readonly unless?: readonly number[];
  /** Likewise, by the engine's words: Podman tells the state of a container by status 500. */
  readonly unlessSaid?: RegExp;
  readonly limitMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** An engine that speaks Docker's API: Docker itself, and Podman. Disposal rejects every call that is under way. */
export class DockerEngine implements ContainerEngine {
  readonly #connection: EngineConnection;
  readonly #closed = new AbortController();

  constructor(address: EngineAddress) {
    this.#connection = new EngineConnection(address);
  }

  async facts(signal?: AbortSignal): Promise<EngineFacts> {
    const [version, system] = await Promise.all([
      this.#ask({ action: "say its version", method: "GET", path: "/version", signal }),
      this.#ask({ action: "describe itself", method: "GET", path: "/info", signal }),
    ]);
    return readFacts(version as VersionAnswer, system as SystemAnswer, this.#connection.url);
  }

  async create(name: string, body: CreateBody): Promise<string> {
    const action = `create container ${name}`;
    const created = await this.#ask({ action, method: "POST", path: "/containers/create", query: { name }, body });
    return (created as { Id: string }).Id;
  }

  async start(id: string): Promise<void> {
    const action = `start container ${id}`;
    await this.#ask({ action, method: "POST", path: `${containerPath(id)}/start`, unless: [304] });
  }

  async inspect(id: string): Promise<Inspection | undefined> {
    const action = `inspect container ${id}`;
    const inspection = await this.#ask({ action, method: "GET", path: `${containerPath(id)}/json`, unless: [404] });
    return inspection as Inspection | undefined;
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    await this.#ask({
      action: `stop container ${id}`,
      method: "POST",
      path: `${containerPath(id)}/stop`,
      query: { t: graceSeconds },
      unless: [304, 404],
      limitMs: requestLimitMs + graceSeconds * 1000,
    });
  }

  async kill(id: string): Promise<void> {
    const action = `kill container ${id}`;
    const unlessSaid = /can only kill running containers/;
    await this.#ask({ action, method: "POST", path: `${containerPath(id)}/kill`, unless: [404, 409], unlessSaid });
  }

  async pause(id: string): Promise<void> {
    const action = `pause container ${id}`;
    const unlessSaid = /already paused/;
    await this.#ask({ action, method: "POST", path: `${containerPath(id)}/pause`, unlessSaid });
  }

  async unpause(id: string): Promise<void> {
    const action = `unpause container ${id}`;
    const unlessSaid = /is not paused/;
    await this.#ask({ action, method: "POST", path: `${containerPath(id)}/unpause`, unlessSaid });
  }

  async remove(id: string): Promise<void> {
    const action = `remove container ${id}`;
    const query = { force: true, v: true };
    await this.#ask({ action, method: "DELETE", path: containerPath(id), query, unless: [404, 409] });
    // 409: somebody else is removing it at this moment. In all other cases this answers at once.
    const removed = { condition: "removed" };
    await this.#ask({ action, method: "POST", path: `${containerPath(id)}/wait`, query: removed, unless: [404] });
  }

  async list(labels: Readonly<Record<string, string>>): Promise<ContainerSummary[]> {
    const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const query = { all: true, filters: JSON.stringify({ label }) };
    const containers = await this.#ask({ action: "list containers", method: "GET", path: "/containers/json", query });
    return (containers as ContainerAnswer[]).map(readSummary);
  }

  /**
   * `oomKilled` is what the engine has noticed: on cgroup v1 and under load it misses some, so exit code 137 without a kill of
   * ours points to it as well.
   */
  async waitForExit(id: string, signal: AbortSignal): Promise<ContainerExit> {
    const action = `wait for the end of container ${id}`;
    const query = { condition: "next-exit" };
    const life = AbortSignal.any([signal, this.#closed.signal]);
    try {
      const path = `${containerPath(id)}/wait`;
      const waiting = await this.#connection.open({ action, method: "POST", path, query }, life);
      return await this.#exitOf(id, waiting);
    } catch (thrown) {
      signal.throwIfAborted();
      throw this.#connection.failure(thrown, action);
    }
  }

  /** Ends, without an error, when the container ends, the engine goes away or this object is disposed. */
  async attach(id: string): Promise<Readable> {
    const action = `attach to container ${id}`;
    const query = { stream: true, stdout: true, stderr: true };
    const detached = new AbortController();
    const life = AbortSignal.any([detached.signal, this.#closed.signal]);
    const path = `${containerPath(id)}/attach`;
    const limit = setTimeout(() => detached.abort(new Error("it took too long")), requestLimitMs);
    const source = await this.#connection
      .open({ action, method: "POST", path, query }, life)
      .finally(() => clearTimeout(limit));
    const output = demultiplex();
    finished(source, () => output.end());
    finished(output, () => detached.abort());
    return source.pipe(output);
  }

  async image(
    reference: string,
  ): Promise<{ id: string; labels: Record<string, string>; config: Record<string, unknown> } | undefined> {
    const action = `look for image ${reference}`;
    const path = `/images/${encodeURIComponent(reference)}/json`;
    const answer = (await this.#ask({ action, method: "GET", path, unless: [404] })) as ImageAnswer | undefined;
    return answer && { id: answer.Id, labels: { ...answer.Config?.Labels }, config: { ...answer.Config } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const message = `The connection to the container engine at ${this.#connection.url} is closed.`;
    this.#closed.abort(new AppError("engine_unavailable", message));
  }

  async #ask({ unless, unlessSaid, limitMs, signal, ...request }: Wish): Promise<unknown> {
    const limit = AbortSignal.timeout(limitMs ?? requestLimitMs);
    const signals = [this.#closed.signal, limit, ...(signal ? [signal] : [])];
    try {
      return await this.#connection.ask(request, AbortSignal.any(signals));
    } catch (thrown) {
      signal?.throwIfAborted();
      const status = refusalStatus(thrown);
      if (status !== undefined && (unless?.includes(status) || unlessSaid?.test(toError(thrown).message)))
        return undefined;
      throw thrown;
    }
  }

  /**
   * `waiting` is the answer to a wait for the next exit. Its head came when the engine had begun to wait; so an end that
   * the inspection does not show yet will be in its body. Podman misses one that comes at that very moment: a second look
   * finds it.
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

/** An id or name goes into the path as one segment, whatever is in it. */
function containerPath(id: string): string {
  return `/containers/${encodeURIComponent(id)}`;
}
