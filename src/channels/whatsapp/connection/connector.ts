import {
  type Connection,
  ConnectionEnd,
  type ConnectionHost,
  type Connector,
  type LoginEvent,
  type LoginOptions,
} from "../../channel.ts";
import { AccountState } from "./account-state.ts";
import { WhatsAppConnection } from "./connection.ts";
import { notLinked } from "./disconnects.ts";
import { linkAccount } from "./linking.ts";
import { Pacing } from "../outgoing/pacing.ts";
import type { WhatsAppOptions, WhatsAppConnectionOptions } from "./connection.ts";
import { isLoopbackHost, type WhatsAppSettings } from "../settings.ts";
import type { StartOrder, TrustedRoot } from "../../../processes/message-schemas.ts";

/** WhatsApp, by way of a worker process for each connection. */
export class WhatsAppConnector implements Connector {
  readonly name = "whatsapp";
  /** Messages carry our own ids. */
  readonly idempotent = true;
  readonly #options: WhatsAppConnectionOptions;
  #state: Promise<AccountState> | undefined;

  constructor(options: WhatsAppOptions) {
    const { settings, clock, random, logger } = options;
    const remark = isTestServer(settings)
      ? `test server ${settings.webSocketUrl}: its identity is not verified`
      : undefined;
    if (remark !== undefined) logger.warn({ channel: this.name }, `this is not WhatsApp but a ${remark}`);
    const pacing = new Pacing(settings.pacing, clock, random);
    this.#options = { ...options, channel: this.name, remark, pacing };
  }

  async connect(host: ConnectionHost, signal: AbortSignal): Promise<Connection> {
    const state = await this.#loadState();
    if (!(await state.isLinked())) throw notLinked();
    signal.throwIfAborted();
    const connection = new WhatsAppConnection(this.#options, state, host);
    try {
      await connection.open({ mode: "connect", ...this.#order(state) }, signal);
      return connection;
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw error;
    }
  }

  async *link({ phoneNumber }: LoginOptions, signal: AbortSignal): AsyncGenerator<LoginEvent> {
    const state = await this.#loadState();
    if (await state.isLinked()) return;
    const number = phoneNumber ?? this.#options.settings.phoneNumber;
    const order: StartOrder = { mode: "link", phoneNumber: number, ...this.#order(state) };
    yield* linkAccount(this.#options, state, order, signal);
    if (!signal.aborted && !(await state.isLinked()))
      throw new ConnectionEnd("logged-out", "the account was not linked");
  }

  /** Everything that has to be closed belongs to a connection. */
  async [Symbol.asyncDispose](): Promise<void> {}

  /** Loads the state, retrying parts that failed. */
  async #loadState(): Promise<AccountState> {
    const { state: store, clock } = this.#options;
    this.#state ??= AccountState.load(store, this.name, clock);
    try {
      return await this.#state;
    } catch (error) {
      this.#state = undefined;
      throw error;
    }
  }

  #order({ refusedVersions }: AccountState): Omit<StartOrder, "mode"> {
    const { webSocketUrl, version } = this.#options.settings;
    return {
      webSocketUrl,
      trust: trustedRoot(this.#options.settings),
      version: version === undefined ? undefined : toVersion(version),
      newestVersion: refusedVersions > 0 && webSocketUrl === undefined,
    };
  }
}

function trustedRoot(settings: WhatsAppSettings): TrustedRoot {
  if (settings.rootPublicKey !== undefined) return { root: "given", key: settings.rootPublicKey };
  return { root: isTestServer(settings) ? "any" : "real" };
}

/** One on this machine, of which the configuration does not say who it is. */
function isTestServer({ webSocketUrl, rootPublicKey }: WhatsAppSettings): boolean {
  if (webSocketUrl === undefined || rootPublicKey !== undefined) return false;
  return isLoopbackHost(new URL(webSocketUrl).hostname);
}

function toVersion(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return [major, minor, patch];
}
