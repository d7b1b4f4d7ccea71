import {
  Browsers,
  DEFAULT_CONNECTION_CONFIG,
  fetchLatestWaWebVersion,
  jidNormalizedUser,
  makeCacheableSignalKeyStore,
  makeWASocket,
  proto,
  S_WHATSAPP_NET,
} from "@whiskeysockets/baileys";
import type { BinaryNode, SocketConfig, WASocket } from "@whiskeysockets/baileys";
import type * as z from "zod";

import { userOf } from "../jids.ts";
import type { Line } from "../../../processes/line.ts";
import type { whatsappWorker } from "../../../processes/protocol.ts";
import { DurableArrivals } from "./arrivals.ts";
import { type AuthState, openAuthState } from "./auth-state.ts";
import { Groups } from "./groups.ts";
import { quietLogger } from "./quiet-logger.ts";
import { Sending } from "./sending.ts";
import { translate } from "./translate.ts";
import { trustOnly } from "./trust.ts";
import type { Account, EndReport, SendOrder, SendOutcome, StartOrder } from "../../../processes/message-schemas.ts";

/** The host, as the worker speaks to it. */
export type WhatsAppHost = Line<typeof whatsappWorker.process, typeof whatsappWorker.host>;

type ReadMessage = z.output<typeof whatsappWorker.process.calls.markRead.input>[number];

const probeMs = 10_000;
/** Status for a missing account, as the server reports a removed device. */
const loggedOut = 401;
const unavailable = 503;
/** Interval of keep-alive requests; the server is lost 5 s after an unanswered one. */
const keepAliveMs = 20_000;

/** History types that identify people; old messages are not ours to answer. */
const wantedHistory: ReadonlySet<unknown> = new Set([
  proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP,
  proto.HistorySync.HistorySyncType.PUSH_NAME,
]);

/** One connection to WhatsApp, from its start to its end; never started twice. */
export class WhatsAppSession {
  readonly #host: WhatsAppHost;
  readonly #auth: AuthState;
  readonly #socket: WASocket;
  readonly #groups: Groups;
  readonly #sending: Sending;
  readonly #over = new AbortController();

  private constructor(host: WhatsAppHost, auth: AuthState, config: Partial<SocketConfig>) {
    this.#host = host;
    this.#auth = auth;
    this.#groups = new Groups({
      socket: () => this.#socket,
      me: () => this.#me(),
      changed: (facts) => host.tell("groupChanged", facts),
    });
    const arrivals = this.#createArrivals();
    this.#socket = makeWASocket({
      ...DEFAULT_CONNECTION_CONFIG,
      ...config,
      cachedGroupMetadata: async (chat) => this.#groups.cached(chat),
      makeSignalRepository: arrivals.around(DEFAULT_CONNECTION_CONFIG.makeSignalRepository),
    });
    arrivals.follow(this.#socket);
    this.#groups.follow(this.#socket);
    this.#sending = new Sending({
      socket: this.#socket,
      groups: this.#groups,
      body: (id) => host.call("sentBody", id),
      keep: ({ id, seq }, body) => host.call("keepSent", { id, seq, body }),
      over: this.#over.signal,
    });
  }

  static async start(host: WhatsAppHost, order: StartOrder): Promise<WhatsAppSession | undefined> {
    trustOnly(order.trust);
    const storage = {
      read: (keys: readonly string[]) => host.call("readKeys", keys),
      apply: (changes: ReadonlyMap<string, Uint8Array | null>) => host.call("applyKeys", changes),
    };
    const auth = await openAuthState(storage, order.mode === "link");
    if (!auth) {
      host.tell("ended", { code: loggedOut, reason: "there is no account" });
      return undefined;
    }
    const session = new WhatsAppSession(host, auth, await configure(host, auth, order));
    session.#listen(order);
    return session;
  }

  send(order: SendOrder): Promise<SendOutcome> {
    return this.#sending.send(order);
  }

  async typing({ chat, on }: { readonly chat: string; readonly on: boolean }): Promise<void> {
    await this.#socket.sendPresenceUpdate(on ? "composing" : "paused", chat);
  }

  async markRead(messages: readonly ReadMessage[]): Promise<void> {
    await this.#socket.readMessages(
      messages.map(({ chat, id, participant }) => ({
        remoteJid: chat,
        id,
        fromMe: false,
        ...(participant !== undefined && { participant }),
      })),
    );
  }

  group(chat: string): ReturnType<Groups["facts"]> {
    return this.#groups.facts(chat);
  }

  async lidsOf(pns: readonly string[]): Promise<{ pn: string; lid: string }[]> {
    const found = await this.#socket.signalRepository.lidMapping.getLIDsForPNs([...pns]);
    return (found ?? []).map(({ pn, lid }) => ({ pn: jidNormalizedUser(pn), lid: jidNormalizedUser(lid) }));
  }

  async mediaHosts(): Promise<readonly string[]> {
    const { hosts } = await this.#socket.refreshMediaConn(false);
    return hosts.map(({ hostname }) => hostname);
  }

  async probe(): Promise<void> {
    const ping: BinaryNode = {
      tag: "iq",
      attrs: { to: S_WHATSAPP_NET, type: "get", xmlns: "w:p" },
      content: [{ tag: "ping", attrs: {} }],
    };
    const answer: unknown = await this.#socket.query(ping, probeMs);
    if (!answer) throw new Error("the server does not answer");
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#socket.end(undefined);
    await this.#auth.saved();
  }

  #createArrivals(): DurableArrivals {
    const { creds, keys } = this.#auth;
    const host = this.#host;
    return new DurableArrivals({
      creds,
      translate: (message) =>
        translate(message, {
          me: this.#me(),
          isOwn: (id) => host.call("isOwn", id),
          lidOf: async (pn) => {
            const found = (await keys.get("lid-mapping", [userOf(pn)]))[userOf(pn)];
            return found === undefined ? undefined : `${userOf(found)}@lid`;
          },
        }),
      keep: (arrival) => host.call("arrived", arrival),
      failed: (text) => host.tell("log", { level: "warn", text }),
    });
  }

  #listen({ phoneNumber }: StartOrder): void {
    const { ev, ws } = this.#socket;
    let isCodeAsked = false;
    ev.on("creds.update", () => {
      this.#auth
        .saveCreds()
        .catch(() => this.#host.tell("log", { level: "warn", text: "credentials could not be stored" }));
    });
    ev.on("connection.update", (update) => {
      if (update.qr !== undefined && phoneNumber === undefined) this.#host.tell("qr", update.qr);
      if (update.qr !== undefined && phoneNumber !== undefined && !isCodeAsked) {
        isCodeAsked = true;
        void this.#askForCode(phoneNumber);
      }
      if (update.connection === "open") this.#opened();
      if (update.connection === "close") void this.#closed(update.lastDisconnect?.error);
    });
    // The library takes no notice of an answer other than a WebSocket, and waits for ever.
    ws.on("unexpected-response", (_request: unknown, { statusCode }: { statusCode: number }) => {
      const reason = `the server answered with ${statusCode}`;
      void this.#closed(Object.assign(new Error(reason), { output: { statusCode: unavailable } }));
    });
    ws.on("CB:receipt", (node: BinaryNode) => this.#receipt(node));
    ev.on("contacts.upsert", (contacts) => this.#named(contacts));
    ev.on("messaging-history.set", ({ contacts }) => this.#named(contacts));
  }

  async #askForCode(phoneNumber: string): Promise<void> {
    try {
      this.#host.tell("pairingCode", await this.#socket.requestPairingCode(phoneNumber));
    } catch (error) {
      await this.#closed(error);
    }
  }

  #opened(): void {
    this.#host.tell("opened", this.#me());
    this.#socket.groupFetchAllParticipating().catch(() => undefined);
  }

  async #closed(error: unknown): Promise<void> {
    this.#over.abort();
    await this.#auth.saved();
    this.#host.tell("ended", describeEnd(error));
  }

  /** A receipt without a type says that a message of ours reached a device. */
  #receipt({ attrs, content }: BinaryNode): void {
    if (attrs["type"] !== undefined || attrs["id"] === undefined) return;
    const lists = Array.isArray(content)
      ? content.flatMap((list) => (Array.isArray(list.content) ? list.content : []))
      : [];
    const more = lists.flatMap((item) => item.attrs["id"] ?? []);
    this.#host.tell("delivered", [attrs["id"], ...more]);
  }

  #named(contacts: readonly { id?: string; lid?: string; notify?: string; name?: string }[]): void {
    const names = contacts.flatMap(({ id, lid, notify, name }) => {
      const person = lid ?? id;
      const called = notify ?? name;
      return person === undefined || !called ? [] : [{ person: jidNormalizedUser(person), name: called }];
    });
    if (names.length > 0) this.#host.tell("named", names);
  }

  #me(): Account {
    const { me } = this.#auth.creds;
    return { pn: me?.id ?? "", lid: me?.lid };
  }
}

async function configure(host: WhatsAppHost, auth: AuthState, order: StartOrder): Promise<Partial<SocketConfig>> {
  const logger = quietLogger((entry) => host.tell("log", entry));
  const newest = order.newestVersion && !order.version ? (await fetchLatestWaWebVersion()).version : undefined;
  const version = order.version ?? newest;
  return {
    auth: { creds: auth.creds, keys: makeCacheableSignalKeyStore(auth.keys, logger) },
    logger,
    browser: Browsers.ubuntu("Chrome"),
    emitOwnEvents: false,
    keepAliveIntervalMs: keepAliveMs,
    syncFullHistory: false,
    shouldSyncHistoryMessage: ({ syncType }) => wantedHistory.has(syncType),
    getMessage: async ({ id }) => {
      const body = id ? await host.call("sentBody", id) : undefined;
      return body && proto.Message.decode(body);
    },
    ...(order.webSocketUrl !== undefined && { waWebSocketUrl: order.webSocketUrl }),
    ...(version && { version: [...version] }),
  };
}

/** The library throws errors that carry a status and what the server sent. */
function describeEnd(thrown: unknown): EndReport {
  const error = (thrown ?? {}) as { message?: string; output?: { statusCode: number }; data?: { expire?: string } };
  const { message: reason = "the connection was closed", output, data } = error;
  const expireS = Number(data?.expire);
  return { code: output?.statusCode ?? 0, reason, ...(expireS > 0 && { expireS }) };
}
