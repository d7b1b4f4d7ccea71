import { join } from "node:path";

import { readAudit } from "../../src/records/audit/read.ts";
import type { AuditRecord } from "../../src/records/audit/record.ts";
import type { CommandEnd, Commands } from "./commands.ts";
import { AttackedHost, engineVariables, openPlayground, writeHome } from "./host.ts";
import type { Playground } from "./host.ts";
import type { Stage } from "./stage.ts";

/**
 * Marks attacks on a separate host, with another configuration or files, that examine its log themselves. They run in
 * parallel to the others.
 */
export const ownLog = { none: "a throwaway host is attacked, and the attack looks for the record in its log" };

/** Message for a chat. */
interface OwnWords {
  readonly id: string;
  readonly sender?: { readonly id: string; readonly name: string };
  readonly text?: string;
}

/** A home of an attack's own, without a host at first. */
export class OwnHome implements AsyncDisposable {
  readonly playground: Playground;
  readonly #token: string;
  readonly #hosts: Set<AsyncDisposable>;
  readonly #commands: Commands;

  private constructor(playground: Playground, { canaries, ownHosts, commands }: Stage) {
    this.playground = playground;
    this.#token = canaries.token;
    this.#hosts = ownHosts;
    this.#commands = commands;
  }

  static async open(stage: Stage): Promise<OwnHome> {
    const playground = await openPlayground(engineVariables(stage.playground.environment), stage.playground.userHome);
    return new OwnHome(playground, stage);
  }

  get path(): string {
    return this.playground.home;
  }

  /** The gateway is configured already. */
  async configure(config: object): Promise<void> {
    const gateway = { port: 0, token: this.#token };
    await writeHome(this.path, { config: { gateway, channels: { http: {} }, ...config } });
  }

  /** A host that ends with the stage. */
  async start(): Promise<AttackedHost> {
    const host = await AttackedHost.start(this.playground);
    this.#hosts.add(host);
    return host;
  }

  /** A life of the host, ended in good order. */
  async live(use: (host: AttackedHost) => Promise<unknown> = () => Promise.resolve()): Promise<AttackedHost> {
    await using host = await this.start();
    await use(host);
    this.#hosts.delete(host);
    return host;
  }

  /** Headers that close the connection: the host may drop a reused one at that moment. */
  get #headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#token}`, connection: "close" };
  }

  async say(
    host: AttackedHost,
    group: string,
    { id, sender = { id: "mallory", name: "Mallory" }, text = "hello" }: OwnWords,
  ): Promise<number> {
    const answer = await fetch(`${host.url}/v1/channels/http/messages`, {
      method: "POST",
      headers: { ...this.#headers, "content-type": "application/json" },
      body: JSON.stringify({ id, group, sender, text }),
    });
    await answer.arrayBuffer();
    return answer.status;
  }

  /** The host's messages in chats. */
  async said(host: AttackedHost): Promise<string[]> {
    const url = `${host.url}/v1/channels/http/replies?after=0&wait=2`;
    const answer = await fetch(url, { headers: this.#headers });
    return ((await answer.json()) as { replies: { text: string }[] }).replies.map(({ text }) => text);
  }

  async command(...args: readonly string[]): Promise<CommandEnd> {
    return this.#commands.run(this.playground.environment, args);
  }

  /** Records of this type, or all. */
  async records(type?: AuditRecord["type"]): Promise<AuditRecord[]> {
    const found = await Array.fromAsync(readAudit({ folder: join(this.path, "audit") }));
    return found.filter((record) => type === undefined || record.type === type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.playground[Symbol.asyncDispose]();
  }
}
