import { createHash, randomBytes } from "node:crypto";

import type { Logger } from "pino";

import type { Group } from "../../domain/chats/group.ts";
import type { ProtectedFile } from "../../domain/rights/protected-file.ts";
import type { Publish } from "../../domain/events/event.ts";
import { AppError, toError } from "../../lib/app-error.ts";
import { namedInEvents, ownerOf, type ServerOwner } from "./server-owner.ts";
import type { ContainedServer, ServerStreams, ServerToOpen } from "./server-streams.ts";
import type { ContainerEngine, ContainerStreams } from "../engine/engine.ts";
import { LaunchedContainer } from "../launch/launched-container.ts";
import type { EgressMount, ImageFacts } from "../launch/spec.ts";
import type { ContainerUser, SandboxSize } from "../profile/profile.ts";
import { refuseUnsafeServerImage } from "../profile/refusals.ts";
import { type ErrorLines, logErrorLines } from "./error-lines.ts";
import { readReport } from "./read-report.ts";
import { ServerContainer } from "./server-container.ts";
import { serverSpec, type ServerSpec, type ServerWish } from "./server-spec.ts";

/** A folder of the group's, as a server may see it. */
export interface SharedFolder {
  readonly path: string;
  /** Owner with write access; undefined: everyone who sees it. */
  readonly owner: ContainerUser | undefined;
  readonly protectedFiles: readonly ProtectedFile[];
}

export interface ServersOptions {
  readonly engine: ContainerEngine;
  /** Returns the agent's image or, for a group, the one made of it, as soon as the engine can be asked for it. */
  readonly image: (group: string | undefined) => Promise<ImageFacts>;
  readonly instance: string;
  readonly sandbox: SandboxSize;
  /** User of a server, shared with no agent or other server. */
  readonly userOf: (owner: ServerOwner) => Promise<ContainerUser>;
  /** The own folder of an MCP server, made if it is missing, belonging to its user. */
  readonly dataFolder: (owner: ServerOwner, user: ContainerUser) => Promise<string>;
  /** Throws `too_large` when that folder holds more than it may. */
  readonly admit: (owner: ServerOwner) => Promise<void>;
  readonly groupFolder: (group: Group) => Promise<SharedFolder>;
  readonly openEgress: (owner: ServerOwner) => Promise<EgressMount | undefined>;
  readonly publish: Publish<
    "container.created" | "container.started" | "container.attested" | "container.refused" | "container.stopped"
  >;
  readonly logger: Logger;
}

/** A container of a server that runs, as it is listed. */
export interface RunningServer extends ServerOwner {
  readonly name: string;
  readonly container: string;
  readonly user: number;
}

interface Opened {
  readonly view: RunningServer;
  readonly container: ServerContainer;
}

/** Until a container of ours has shown what it is. */
const readyMs = 30_000;

/**
 * The containers of MCP servers and plugins: each is made anew, attested before anything is said to it, and removed
 * when it has ended.
 */
export class Servers implements AsyncDisposable {
  readonly #options: ServersOptions;
  readonly #open = new Map<string, Opened>();
  /** Names of containers that are being made. */
  readonly #starting = new Set<string>();
  /** Ids of those that the engine could not remove. */
  readonly #left = new Set<string>();
  #isClosed = false;

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** True for a container that runs or will run. */
  has(name: string): boolean {
    return this.#starting.has(name) || this.#open.has(name);
  }

  list(): RunningServer[] {
    return [...this.#open.values()].map(({ view }) => view);
  }

  /** Ends the container with this name, for a reason that the operator is told. */
  async stop(name: string, reason: string): Promise<void> {
    await this.#open.get(name)?.container.stop(reason);
  }

  /** `OpenStdio` */
  async open(wanted: ServerToOpen, group: Group | undefined, signal: AbortSignal): Promise<ServerStreams> {
    if (this.#isClosed) throw new AppError("container_lost", "The host is stopping.");
    const { instance } = this.#options;
    await this.#removeLeft();
    const { kind } = ownerOf(wanted.server, undefined);
    const name = `crabpot-${instance.slice(0, 8)}-${kind}-${randomBytes(8).toString("hex")}`;
    this.#starting.add(name);
    try {
      const plan = await this.#plan(wanted, group, signal);
      signal.throwIfAborted();
      const opened = await this.#create({ ...plan, name }, signal);
      this.#open.set(name, opened);
      void opened.container.ended.then(() => this.#open.delete(name));
      return opened.container;
    } finally {
      this.#starting.delete(name);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open.values()].map(({ container }) => container[Symbol.asyncDispose]()));
    await this.#removeLeft();
  }

  async #plan(wanted: ServerToOpen, group: Group | undefined, signal: AbortSignal): Promise<Plan> {
    const { instance, sandbox, openEgress } = this.#options;
    const { server, program, inGroupImage = false } = wanted;
    const ofGroup = groupOf(server, group);
    const owner = ownerOf(server, ofGroup?.name);
    const { image, hasStarter } = await this.#imageOf(server, inGroupImage ? ofGroup?.name : undefined);
    const { command, args, folder: packageFolder } = await program(signal);
    const { user, ...folders } = await this.#folders(server, owner, ofGroup);
    const spec = serverSpec({
      ...folders,
      instance,
      image,
      hasStarter,
      user,
      owner,
      sandbox: server.kind === "plugin" ? { ...sandbox, memoryMb: server.memoryMb } : sandbox,
      command,
      args,
      packageFolder,
      env: server.env,
      egress: await openEgress(owner),
    });
    return { spec, image, user, owner };
  }

  /** Only its owner can write to a group's folder, which is then the user of both. */
  async #folders(server: ContainedServer, owner: ServerOwner, group: Group | undefined): Promise<Folders> {
    const { admit, dataFolder, groupFolder, userOf } = this.#options;
    if (server.kind === "plugin") return { user: await userOf(owner), protectedFiles: [] };
    await admit(owner);
    const { folder } = server;
    const shared = folder === "none" || group === undefined ? undefined : await groupFolder(group);
    const isWritten = folder === "rw" && shared !== undefined;
    const user = (isWritten ? shared.owner : undefined) ?? (await userOf(owner));
    return {
      user,
      dataFolder: await dataFolder(owner, user),
      groupFolder: shared && { path: shared.path, readOnly: !isWritten },
      protectedFiles: isWritten ? shared.protectedFiles : [],
    };
  }

  async #imageOf(
    server: ContainedServer,
    group: string | undefined,
  ): Promise<{ readonly image: ImageFacts; readonly hasStarter: boolean }> {
    const ofAgent = await this.#options.image(group);
    if (server.kind === "plugin" || server.image === undefined) return { image: ofAgent, hasStarter: true };
    const image = await this.#options.engine.image(server.image);
    if (image === undefined) {
      const message = `The image ${server.image} of the MCP server ${server.name} is missing: crabpot fetches none by itself.`;
      throw new AppError("image_missing", message, { fix: `docker pull ${server.image}` });
    }
    if (image.id === ofAgent.id) return { image, hasStarter: true };
    refuseUnsafeServerImage(server.image, image.config);
    if (server.network.allow.length > 0) {
      const message = `The MCP server ${server.name} has its own image and a network: there is no way out of such a container.`;
      throw new AppError("config_invalid", message, {
        fix: `Leave out mcp.servers.${server.name}.image or .network: packages of npm run in crabpot's own image.`,
      });
    }
    return { image, hasStarter: false };
  }

  async #create(start: Start, signal: AbortSignal): Promise<Opened> {
    const { engine, publish } = this.#options;
    const { name, spec, image, user, owner } = start;
    const about = { group: owner.group, actor: "host" } as const;
    const body = createHash("sha256").update(JSON.stringify(spec.body)).digest("hex");
    const data = {
      name,
      spec: spec.hash,
      body,
      image: image.id,
      uid: user.uid,
      ...namedInEvents(owner),
      mounts: spec.mounts,
    };
    await publish({ type: "container.created", ...about, data });
    const id = await engine.create(name, spec.body);
    let launched: LaunchedContainer | undefined;
    let conversation: ContainerStreams | undefined;
    try {
      const begin = { type: "container.started", ...about, data: { name, container: id } } as const;
      const [talk, errors] = await Promise.all([engine.converse(id), engine.attach(id, "stderr"), publish(begin)]);
      conversation = talk;
      const lines = logErrorLines(
        errors,
        this.#options.logger.child({ [owner.kind]: owner.server, group: owner.group }),
      );
      const facts = { engine, id, name, body: spec.body, generation: 1, uid: user.uid, mailFolder: "", granted: [] };
      launched = new LaunchedContainer(facts);
      await engine.start(id);
      await this.#attest(launched, { conversation, start, signal });
      const view = { ...owner, name, container: id, user: user.uid };
      return { view, container: this.#running(launched, { conversation, errors: lines }, about) };
    } catch (error) {
      conversation?.output.destroy();
      await (launched ? launched.remove() : engine.remove(id)).catch(() => this.#left.add(id));
      const what = owner.kind === "plugin" ? "plugin" : "MCP server";
      const reason = `${what} ${owner.server}: ${toError(error).message}`;
      await publish({ type: "container.refused", ...about, data: { reason } });
      throw error;
    }
  }

  #running(
    launched: LaunchedContainer,
    streams: { readonly conversation: ContainerStreams; readonly errors: ErrorLines },
    about: { readonly group: string | undefined; readonly actor: "host" },
  ): ServerContainer {
    const { publish, logger } = this.#options;
    const { id, name, generation } = launched;
    return new ServerContainer({
      launched,
      ...streams,
      stopped: (reason) =>
        publish({ type: "container.stopped", ...about, data: { name, container: id, generation, reason } }),
      leftBehind: (error) => {
        this.#left.add(id);
        logger.error({ error, name }, "a container with standard streams could not be ended cleanly");
      },
    });
  }

  /**
   * Attests the container. With our starter, the server's code has not run yet; with another image it has, but nobody
   * has talked to it.
   */
  async #attest(
    launched: LaunchedContainer,
    { conversation, start, signal }: { conversation: ContainerStreams; start: Start; signal: AbortSignal },
  ): Promise<void> {
    const began = performance.now();
    void launched.lookFromOutside();
    const hasStarter = start.spec.hasStarter;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(readyMs)]);
    const probe = hasStarter ? await readReport(conversation.output, limit) : undefined;
    const surprises = await launched.attest(probe);
    if (surprises.length > 0)
      throw new AppError("attestation_failed", `The container is not what was asked for: ${surprises.join("; ")}`);
    signal.throwIfAborted();
    const { id, name, generation } = launched;
    const data = { name, container: id, generation, elapsedMs: Math.round(performance.now() - began) };
    await this.#options.publish({ type: "container.attested", group: start.owner.group, actor: "host", data });
    if (hasStarter) conversation.input.write("\n");
  }

  /** Removes leftovers from when the engine was away; errors are ignored, as the next start would fail anyway. */
  async #removeLeft(): Promise<void> {
    for (const id of this.#left)
      await this.#options.engine.remove(id).then(
        () => this.#left.delete(id),
        () => undefined,
      );
  }
}

interface Plan {
  readonly spec: ServerSpec;
  readonly image: ImageFacts;
  readonly user: ContainerUser;
  readonly owner: ServerOwner;
}

interface Start extends Plan {
  readonly name: string;
}

type Folders = Pick<ServerWish, "user" | "dataFolder" | "groupFolder" | "protectedFiles">;

/** The group that owns the container; undefined: it is for all groups. */
function groupOf(server: ContainedServer, group: Group | undefined): Group | undefined {
  if (server.kind === "plugin" || server.scope === "shared") return undefined;
  if (group) return group;
  throw new AppError(
    "bad_input",
    `The MCP server ${server.name} has a container for each group, and no group was named.`,
  );
}
