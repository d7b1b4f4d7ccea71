import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { fingerprint } from "../../src/records/audit/fingerprint.ts";
import type { AuditRecord } from "../../src/records/audit/record.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { FollowedLog } from "./followed-log.ts";
import { FollowedReplies, type Reply } from "./followed-replies.ts";
import { giveBrowser } from "./browsing.ts";
import { askControl } from "./control.ts";
import type { CommandEnd, Commands } from "./commands.ts";
import { AttackedHost, openPlayground, writeHome } from "./host.ts";
import type { Playground } from "./host.ts";
import { KeptConnections } from "./kept-connections.ts";
import { AttackModel } from "./model.ts";
import type { AttackCall, ShownToModel } from "./model.ts";
import { type Canaries, plantCanaries, stageConfig } from "./stage-config.ts";
import { openInternet } from "./stage-internet.ts";
import type { StageInternet } from "./stage-internet.ts";
import { giveMemory } from "./stage-memory.ts";
import { prepareMounts } from "./stage-mounts.ts";
import { longestWaitMs } from "./waiting.ts";
import { openStageWeb, type StageWeb } from "./stage-web.ts";
import { prepareServer } from "./stage-server.ts";

export interface SaidOptions {
  readonly id?: string;
  readonly sender?: { readonly id: string; readonly name: string };
  readonly mention?: boolean;
  readonly forwarded?: boolean;
  readonly replyTo?: unknown;
  readonly attachments?: readonly { readonly name: string; readonly mimeType: string; readonly data: string }[];
}

/** Results of an attack in a container. */
export interface InContainer {
  /** Results of the tool calls, as the model saw them. */
  readonly outputs: readonly string[];
  readonly output: string;
  readonly shown: ShownToModel | undefined;
  readonly reply: Reply;
}

/**
 * Groups of the host under attack: `red` is the attacker's, `blue` a bystander's; `echo` has secrets, `neighbour` one
 * that is not its; `pair` has two agents. `bots` and `busy` have small limits of turns, `drowned` is for floods that
 * use up its day. From `boards` on they are on the stage `withMemory` alone.
 */
export type StageGroup =
  | "red"
  | "blue"
  | "mounts"
  | "locked"
  | "tooled"
  | "pair"
  | "egress"
  | "echo"
  | "neighbour"
  | "bots"
  | "busy"
  | "drowned"
  | "careful"
  | "sighted"
  | "ranked"
  | "washed"
  | "offered"
  | "asking"
  | "shown"
  | "called"
  | "served"
  | "surfing"
  | "fenced"
  | "boards"
  | "lender"
  | "borrower"
  | "beats"
  | "direct"
  | "family"
  | "browsing";

/** Adds to the configuration of a stage what some attacks need. */
type ChangeConfig = (
  config: { readonly groups: object; readonly models: object; readonly sandbox: object },
  place: { readonly port: number; readonly userHome: string },
) => object;

/** The engine and the thread of commands, which all stages of a suite share. */
export interface SharedByStages {
  readonly engine: ContainerEngine;
  /** Variables that led to the engine. */
  readonly environment: Readonly<Record<string, string>>;
  readonly commands: Commands;
}

/** A real host with a separate home and the attacker's model. Attacks share it: damage by one shows in the next. */
export class Stage implements AsyncDisposable {
  readonly engine: ContainerEngine;
  readonly commands: Commands;
  readonly playground: Playground;
  readonly model: AttackModel;
  readonly host: AttackedHost;
  readonly internet: StageInternet;
  readonly web: StageWeb;
  readonly canaries: Canaries;
  /** Those that run for an attack alone: an attack that is interrupted does not come to end them. */
  readonly ownHosts = new Set<AsyncDisposable>();
  readonly #log: FollowedLog;
  readonly #connections = new KeptConnections();
  readonly #replies = new FollowedReplies((after, waitSeconds) => this.#readReplies(after, waitSeconds));
  readonly #owned: AsyncDisposableStack;
  readonly #shared: SharedByStages;
  #withBrowser: Promise<Stage> | undefined;
  #withMemory: Promise<Stage> | undefined;

  private constructor(
    shared: SharedByStages,
    options: Pick<Stage, "playground" | "model" | "host" | "internet" | "web" | "canaries">,
    owned: AsyncDisposableStack,
  ) {
    this.engine = shared.engine;
    this.commands = shared.commands;
    this.playground = options.playground;
    this.model = options.model;
    this.host = options.host;
    this.internet = options.internet;
    this.web = options.web;
    this.canaries = options.canaries;
    this.#log = new FollowedLog(join(options.playground.home, "audit"));
    this.#owned = owned;
    this.#shared = shared;
  }

  /** `change`: what the host has besides. */
  static async open(shared: SharedByStages, change: ChangeConfig = (config) => config): Promise<Stage> {
    const { engine, environment } = shared;
    await using stack = new AsyncDisposableStack();
    const canaries = plantCanaries();
    const { address } = await engine.facts();
    const outside = stack.use(await openPlayground({}));
    const internet = stack.use(await openInternet(outside.userHome));
    const web = stack.use(await openStageWeb());
    const variables = { REDTEAM_CANARY: canaries.environment, NODE_EXTRA_CA_CERTS: internet.authorityFile };
    // Another home folder has no other socket.
    const playground = stack.use(await openPlayground({ ...environment, DOCKER_HOST: address, ...variables }));
    const model = stack.use(await AttackModel.start());
    const { mounts, roots } = await prepareMounts(playground, canaries.file);
    await writeHome(playground.home, {
      config: change(stageConfig({ canaries, modelUrl: model.url, mounts, internet, web }), {
        port: internet.port,
        userHome: playground.userHome,
      }),
      mounts: roots,
    });
    await prepareServer(playground.home);
    await mkdir(join(playground.userHome, ".ssh"), { mode: 0o700 });
    await writeFile(join(playground.userHome, ".ssh/id_ed25519"), canaries.file, { mode: 0o600 });
    const host = stack.use(await AttackedHost.start(playground));
    const stage = new Stage(shared, { playground, model, host, internet, web, canaries }, stack.move());
    for (const group of ["echo", "neighbour"] as const) {
      await writeFile(join(stage.groupFolder(group), "port"), String(internet.port), { mode: 0o644 });
    }
    return stage;
  }

  /** A stage beside this one whose group `browsing` has a browser. It goes with this one. */
  async withBrowser(): Promise<Stage> {
    this.#withBrowser ??= Stage.open(this.#shared, giveBrowser);
    return this.#withBrowser;
  }

  /** The same whose groups remember. */
  async withMemory(): Promise<Stage> {
    this.#withMemory ??= Stage.open(this.#shared, giveMemory);
    return this.#withMemory;
  }

  get home(): string {
    return this.playground.home;
  }

  groupFolder(group: StageGroup): string {
    return join(this.home, "groups", group);
  }

  /** Says something in a chat; the answer of the channel, with the message's id. */
  async say(group: string, text: string, options: SaidOptions = {}): Promise<{ status: number; id: string }> {
    const id = options.id ?? randomUUID();
    const body = JSON.stringify({ sender: { id: "mallory", name: "Mallory" }, ...options, id, group, text });
    const headers = { ...this.authorization, "content-type": "application/json" };
    const { status } = await this.#ask("/v1/channels/http/messages", { headers, body });
    return { status, id };
  }

  get authorization(): { authorization: string } {
    return { authorization: `Bearer ${this.canaries.token}` };
  }

  async request(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    // Of a connection that is used again the host may let go in the very moment.
    headers.set("connection", "close");
    return fetch(`${this.host.url}${path}`, { signal: AbortSignal.timeout(longestWaitMs), ...options, headers });
  }

  async #readReplies(after: number, waitSeconds: number): Promise<Reply[]> {
    const path = `/v1/channels/http/replies?after=${after}&wait=${waitSeconds}`;
    const { body } = await this.#ask(path, { headers: this.authorization });
    return (JSON.parse(body) as { replies: Reply[] }).replies;
  }

  /** Asks the host on a connection that is used again. */
  #ask(path: string, asked: Pick<Parameters<KeptConnections["ask"]>[1], "headers" | "body">) {
    return this.#connections.ask(`${this.host.url}${path}`, { ...asked, signal: AbortSignal.timeout(longestWaitMs) });
  }

  /** All that was said after `after` up to now. */
  async allReplies(after = 0): Promise<readonly Reply[]> {
    return this.#replies.after(after);
  }

  /** Waits for the first reply or notice after `after` that fits. */
  async replyWhere(fits: (reply: Reply) => boolean, after = 0): Promise<Reply> {
    const found = await this.#replies.first(fits, after, AbortSignal.timeout(longestWaitMs));
    if (found === undefined)
      throw new AppError("not_found", `There was no answer. ${await this.#lastWords().catch(String)}`);
    return found;
  }

  /** Lists what was said last and which turns are at work: for a failure that nobody can repeat. */
  async #lastWords(): Promise<string> {
    const said = (await this.allReplies()).slice(-3).map(({ group, text }) => `${group}: ${text.slice(0, 100)}`);
    const turns = await this.list<{ readonly group: string; readonly state: string }>("turns.list", { limit: 100 });
    const open = turns.filter(({ state }) => state === "running").map(({ group }) => group);
    return `Last of all: ${said.join(" | ")}. Turns at work: ${open.join(", ") || "none"}.`;
  }

  /** Says something and waits for what answers it. */
  async ask(group: string, text: string, options: SaidOptions = {}): Promise<Reply> {
    const { status, id } = await this.say(group, text, options);
    if (status !== 202) throw new AppError("bad_input", `The message was refused with ${status}.`);
    return this.replyWhere((reply) => reply.inReplyTo.includes(id));
  }

  /** Has the group's agent make tool calls, round by round. */
  async calls(group: StageGroup, rounds: readonly (readonly AttackCall[])[], say?: string): Promise<InContainer> {
    const name = this.model.prepare(say === undefined ? { rounds } : { rounds, say });
    const reply = await this.ask(group, `@crab ${name}`);
    const shown = this.model.shown(name);
    const outputs = shown?.toolOutputs ?? [];
    return { outputs, output: outputs.join("\n"), shown, reply };
  }

  /** Runs commands in the group's container, one after another. */
  async shell(group: StageGroup, ...commands: readonly string[]): Promise<InContainer> {
    return this.calls(
      group,
      commands.map((command) => [{ name: "shell", input: { command } }]),
    );
  }

  /** The host's answer on its control socket. */
  async control(operation: string, input: object): Promise<unknown> {
    return askControl(this.home, operation, input);
  }

  /** List from the control socket. */
  async list<Line = unknown>(operation: string, filter: object = {}): Promise<readonly Line[]> {
    return (await this.control(operation, filter)) as readonly Line[];
  }

  /** The group's next turn has a new container, whether it has had one or not. */
  async stopContainers(group: string): Promise<void> {
    await this.control("sessions.stop", { target: group }).catch((error: unknown) => {
      if (!(error instanceof AppError && error.code === "not_found")) throw error;
    });
  }

  /** Adds work for an agent in a separate session, with an answer for nobody. */
  async addWork(group: string, session: string, text: string): Promise<void> {
    await this.control("work.add", { group, session, text, silent: true });
  }

  /** Runs a command of crabpot on this home. */
  async command(...args: readonly string[]): Promise<CommandEnd> {
    return this.commands.run(this.playground.environment, args);
  }

  /** Records of the audit log behind the one with this number. */
  async recordsAfter(seq: number): Promise<AuditRecord[]> {
    return this.#log.after(seq);
  }

  /** Longest time that the host kept its event loop busy since the last time that this was asked. */
  async takeLoopLagMs(): Promise<number> {
    const { body } = await this.#ask("/metrics", { headers: this.authorization });
    const seconds = /^crabpot_event_loop_own_lag_seconds (\S+)$/m.exec(body)?.[1];
    return Number(seconds ?? Number.NaN) * 1000;
  }

  /** Hash in the audit log for a tool call with this command. */
  async hashOfCommand(command: string): Promise<string> {
    const salt = Buffer.from((await readFile(join(this.home, "keys/audit-salt"), "utf8")).trim(), "hex");
    return fingerprint(salt, JSON.stringify({ command })).sha256;
  }

  /** Names of the containers of this home. */
  async containers(): Promise<string[]> {
    const instance = await readFile(join(this.home, "instance"), "utf8");
    return (await this.engine.list({ "crabpot.instance": instance.trim() })).map(({ name }) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const beside = await Promise.all(
      [this.#withBrowser, this.#withMemory].map(async (other) => other?.catch(() => undefined)),
    );
    const hosts = [...this.ownHosts, ...beside.filter((other) => other !== undefined)];
    await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
    this.#connections[Symbol.dispose]();
    await this.#owned.disposeAsync();
  }
}
