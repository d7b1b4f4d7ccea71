import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

import { BufferJSON, initAuthCreds, makeWASocket, WA_CERT_DETAILS } from "@whiskeysockets/baileys";
import type {
  AuthenticationCreds,
  BaileysEventMap,
  BinaryNode,
  ConnectionState,
  UserFacingSocketConfig,
  WAMessage,
  WASocket,
} from "@whiskeysockets/baileys";
import { pino } from "pino";

import { tolerateHandles } from "../made-by-tests.ts";
import { MemoryKeys } from "./device.ts";
import type { FakeWhatsApp } from "./fake-whatsapp.ts";

/** State of a library client between connections. */
export class LibraryState {
  readonly keys = new MemoryKeys();
  #credentials = JSON.stringify(initAuthCreds(), BufferJSON.replacer);

  /** Copies: what was not saved is lost, as after a crash. */
  load(): AuthenticationCreds {
    return JSON.parse(this.#credentials, BufferJSON.reviver) as AuthenticationCreds;
  }

  save(credentials: AuthenticationCreds): void {
    this.#credentials = JSON.stringify(credentials, BufferJSON.replacer);
  }
}

/** A message that the library has handed over. */
export interface Upsert {
  readonly type: "notify" | "append";
  readonly message: WAMessage;
}

/** One connection of the unmodified library, with all that it has told. */
export class LibraryClient implements AsyncDisposable {
  readonly socket: WASocket;
  readonly upserts: Upsert[] = [];
  readonly updates: BaileysEventMap["messages.update"] = [];
  readonly receipts: BaileysEventMap["message-receipt.update"] = [];
  readonly participants: BaileysEventMap["group-participants.update"][] = [];
  readonly groups: BaileysEventMap["groups.update"] = [];
  readonly newGroups: BaileysEventMap["groups.upsert"] = [];
  readonly presences: BaileysEventMap["presence.update"][] = [];
  readonly history: WAMessage[] = [];
  readonly acks: BinaryNode[] = [];
  readonly #shown = Promise.withResolvers<string>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<number | undefined>();
  #connection: ConnectionState["connection"] = "connecting";

  constructor(whatsapp: FakeWhatsApp, state: LibraryState, options: Partial<UserFacingSocketConfig> = {}) {
    // It leaves timers of queries and back-offs running when it is closed.
    tolerateHandles("Timeout");
    const credentials = state.load();
    this.socket = makeWASocket({
      waWebSocketUrl: whatsapp.url,
      auth: { creds: credentials, keys: state.keys },
      logger: pino({ level: "silent" }),
      emitOwnEvents: false,
      markOnlineOnConnect: false,
      retryRequestDelayMs: 10,
      transactionOpts: { maxCommitRetries: 3, delayBetweenTriesMs: 50 },
      ...options,
    });
    this.socket.ev.on("creds.update", (update) => {
      state.save(Object.assign(credentials, update));
      if (credentials.accountSyncCounter > 0) this.#synced.resolve();
    });
    this.socket.ev.on("connection.update", (update) => this.#follow(update));
    this.#collect();
  }

  get connection(): ConnectionState["connection"] {
    return this.#connection;
  }

  /** Resolves with the text of the first QR code. */
  get qrCode(): Promise<string> {
    return this.#shown.promise;
  }

  /** Resolves when it is logged in; rejects when it ends before that. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /**
   * Resolves when a client that was linked just now has the phone's history; until then it keeps back what it hears.
   */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Resolves with the library's reason as soon as the connection has ended. */
  get closed(): Promise<number | undefined> {
    return this.#closed.promise;
  }

  /** The messages that are no stubs. */
  get messages(): WAMessage[] {
    return this.upserts.map(({ message }) => message).filter(({ message }) => message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.socket.end(undefined);
  }

  #follow({ connection, lastDisconnect, qr }: Partial<ConnectionState>): void {
    if (qr !== undefined) this.#shown.resolve(qr);
    if (connection !== undefined) this.#connection = connection;
    if (connection === "open") this.#opened.resolve();
    if (connection !== "close") return;
    const code = (lastDisconnect?.error as { output?: { statusCode?: number } } | undefined)?.output?.statusCode;
    this.#opened.reject(new Error(`the connection ended with ${String(code)} before it was open`));
    this.#opened.promise.catch(() => {});
    this.#closed.resolve(code);
  }

  #collect(): void {
    const { ev, ws } = this.socket;
    ev.on("messages.upsert", ({ type, messages }) =>
      this.upserts.push(...messages.map((message) => ({ type, message }))),
    );
    ev.on("messages.update", (updates) => this.updates.push(...updates));
    ev.on("message-receipt.update", (receipts) => this.receipts.push(...receipts));
    ev.on("group-participants.update", (update) => this.participants.push(update));
    ev.on("groups.update", (groups) => this.groups.push(...groups));
    ev.on("groups.upsert", (groups) => this.newGroups.push(...groups));
    ev.on("presence.update", (presence) => this.presences.push(presence));
    ev.on("messaging-history.set", ({ messages }) => this.history.push(...messages));
    ws.on("CB:ack,class:message", (ack: BinaryNode) => this.acks.push(ack));
  }
}

/** Makes this process's library believe the server, until disposed: its root and the certificate of its files. */
export function trustServer(whatsapp: FakeWhatsApp): Disposable {
  const root = pinRoot(whatsapp.root);
  const authorities = getCACertificates("default");
  setDefaultCACertificates([...authorities, readFileSync(whatsapp.caFile, "utf8")]);
  return {
    [Symbol.dispose]: () => {
      root[Symbol.dispose]();
      setDefaultCACertificates(authorities);
    },
  };
}

/** Makes this root the one that this process's library asks for, until disposed. */
export function pinRoot(publicKey: Buffer): Disposable {
  const before = WA_CERT_DETAILS.PUBLIC_KEY;
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(publicKey);
  return { [Symbol.dispose]: () => void (WA_CERT_DETAILS.PUBLIC_KEY = before) };
}

/** Links a new client to the account by QR code, and logs in. */
export async function pairLibrary(whatsapp: FakeWhatsApp, account?: string): Promise<LibraryState> {
  const state = new LibraryState();
  await using first = new LibraryClient(whatsapp, state);
  await whatsapp.scan(await first.qrCode, account);
  await first.closed;
  await using second = new LibraryClient(whatsapp, state);
  await second.opened;
  await second.synced;
  return state;
}
