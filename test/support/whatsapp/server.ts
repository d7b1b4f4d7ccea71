import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

import { binaryNodeToString, Curve, getBinaryNodeChild, proto } from "@whiskeysockets/baileys";
import type { BinaryNode } from "@whiskeysockets/baileys";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";

import { Administration } from "./administration.ts";
import type { Credentials } from "./certificate.ts";
import { Composer } from "./compose.ts";
import { Connection } from "./connection.ts";
import { Delivery } from "./delivery.ts";
import { GroupQueries } from "./group-queries.ts";
import { Intake } from "./intake.ts";
import { MediaServer } from "./media.ts";
import { NoiseResponder } from "./noise-responder.ts";
import { Pairing } from "./pairing.ts";
import type { Companion } from "./person.ts";
import { Queries } from "./queries.ts";
import { attribute, firstChild, nowSeconds, stanza } from "./stanza.ts";
import { makeTrust } from "./trust.ts";
import { World } from "./world.ts";

const path = "/ws/chat";

/** A server that speaks WhatsApp's protocol with unmodified clients, on the loopback. */
export class WhatsAppServer implements AsyncDisposable {
  readonly world = new World();
  readonly pairing = new Pairing();
  readonly delivery = new Delivery(this.world);
  readonly administration = new Administration(this.world, this.delivery);
  readonly intake = new Intake(this.world, this.delivery);
  readonly media: MediaServer;
  readonly composer: Composer;
  readonly #staticKey = Curve.generateKeyPair();
  readonly #trust = makeTrust(this.#staticKey.public);
  readonly #queries: Queries;
  readonly #http = createServer((_request, response) => response.writeHead(426).end());
  readonly #webSockets = new WebSocketServer({ noServer: true });
  readonly #connections = new Set<Connection>();
  readonly #sockets = new Set<Socket>();

  private constructor(media: MediaServer) {
    this.media = media;
    this.composer = new Composer(this.world, media);
    this.#queries = new Queries({
      world: this.world,
      groups: new GroupQueries(this.world, this.administration),
      pairing: this.pairing,
      mediaHost: media.host,
      unlink: (companion) => this.unlink(companion),
    });
    this.#http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#http.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(credentials: Credentials): Promise<WhatsAppServer> {
    const server = new WhatsAppServer(await MediaServer.start(credentials));
    server.#http.listen(0, "127.0.0.1");
    await once(server.#http, "listening");
    return server;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}${path}`;
  }

  /** Root key to pin for this server. */
  get rootPublicKey(): Buffer {
    return this.#trust.rootPublicKey;
  }

  /** Clients that have a connection at present, logged in or not. */
  get connections(): Connection[] {
    return [...this.#connections];
  }

  /** The account removes a client: it is told so, and can never log in again. */
  unlink(companion: Companion): void {
    companion.person.companions.delete(companion.device);
    if (companion.connection) this.endStream(companion.connection, 401, "device_removed");
  }

  /** Ends a connection with an error of the stream. */
  endStream(connection: Connection, code: number | undefined, conflict?: string): void {
    const reason = conflict === undefined ? undefined : [stanza("conflict", { type: conflict })];
    connection.send(stanza("stream:error", { code: code === undefined ? undefined : String(code) }, reason));
    connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#http, "close");
    this.#http.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await this.media[Symbol.asyncDispose]();
    this.world[Symbol.dispose]();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { upgrade } = this.world.faults;
    if (upgrade === "hang") {
      this.world.trace.push("! an upgrade hangs");
      return;
    }
    if (upgrade === "refuse") {
      socket.end("HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    this.#webSockets.handleUpgrade(request, socket, head, (client) => {
      if (upgrade === "accept") this.#accept(client);
    });
  }

  #accept(socket: WebSocket): void {
    const noise = new NoiseResponder(this.#staticKey, this.#trust.chain);
    const connection = new Connection(socket, noise, () => !this.world.faults.silent);
    this.#connections.add(connection);
    let turn = Promise.resolve();
    socket.on("message", (data: Buffer) => {
      turn = turn
        .then(async () => this.#receive(connection, data))
        .catch((error: unknown) => {
          this.world.trace.push(`! ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
          connection.close();
        });
    });
    socket.on("close", () => {
      this.#connections.delete(connection);
      this.pairing.forget(connection);
      const { companion } = connection;
      if (companion?.connection === connection) companion.connection = undefined;
    });
  }

  async #receive(connection: Connection, data: Buffer): Promise<void> {
    const { noise } = connection;
    for (const frame of noise.frames(data)) {
      if (noise.stage === "hello") connection.sendBytes(() => noise.hello(frame));
      else if (noise.stage === "finish") {
        connection.identity = noise.finish(frame);
        this.#logIn(connection);
      } else {
        const node = await noise.decode(frame);
        this.world.trace.push(`> ${binaryNodeToString(node).slice(0, 2000)}`);
        await this.#handle(connection, node);
      }
    }
  }

  #logIn(connection: Connection): void {
    const { payload, noiseKey } = connection.identity ?? {};
    if (!payload || payload.devicePairingData) return this.pairing.begin(connection);
    const person = this.world.personOf(`${String(payload.username)}@s.whatsapp.net`);
    const companion = person?.companions.get(payload.device ?? 0);
    const isKnown = companion !== undefined && noiseKey !== undefined && companion.noiseKey.equals(noiseKey);
    const refusal = isKnown ? this.world.faults.loginFailure : 401;
    if (refusal !== null || !companion) {
      connection.send(stanza("failure", { reason: String(refusal), location: "lla" }));
      return connection.close();
    }
    if (companion.connection) this.endStream(companion.connection, undefined, "replaced");
    this.world.logins.push(companion.person.name);
    connection.companion = companion;
    companion.connection = connection;
    const lid = companion.person.jid("lid", companion.device);
    connection.send(stanza("success", { t: nowSeconds(), props: "27", location: "lla", lid }));
    return this.delivery.sendBacklog(companion);
  }

  async #handle(connection: Connection, node: BinaryNode): Promise<void> {
    const { companion } = connection;
    if (node.tag === "iq") {
      const signed = getBinaryNodeChild(node, "pair-device-sign");
      if (signed) this.pairing.complete(connection, signed);
      else if (node.attrs["type"] === "get" || node.attrs["type"] === "set") this.#queries.answer(connection, node);
      if (companion && node.attrs["xmlns"] === "passive") await this.#sendFirstHistory(companion);
      return;
    }
    if (!companion) return;
    if (node.tag === "message") await this.intake.receive(connection, companion, node);
    if (node.tag === "receipt") await this.#takeReceipt(connection, companion, node);
    if (node.tag === "ack") {
      this.delivery.confirm(companion, attribute(node, "class"), attribute(node, "id"));
    }
    if (node.tag === "chatstate") this.#takeTyping(companion, node);
  }

  /** Sends the first history as soon as a new client can receive; until then the library holds messages back. */
  async #sendFirstHistory(companion: Companion): Promise<void> {
    if (companion.hasHistory) return;
    companion.hasHistory = true;
    const { INITIAL_BOOTSTRAP } = proto.HistorySync.HistorySyncType;
    const history = { syncType: INITIAL_BOOTSTRAP, conversations: [], progress: 100, chunkOrder: 1 };
    await this.delivery.sendHistory(companion.person, history);
  }

  async #takeReceipt(connection: Connection, companion: Companion, node: BinaryNode): Promise<void> {
    const id = attribute(node, "id");
    const to = attribute(node, "to");
    const { type, participant } = node.attrs;
    connection.send(stanza("ack", { id, class: "receipt", from: to, type, participant }));
    const list = getBinaryNodeChild(node, "list")?.content;
    const ids = [id, ...(Array.isArray(list) ? list.map((item) => attribute(item, "id")) : [])];
    if (type !== "retry") this.delivery.confirmMessages(companion, ids);
    this.world.receipts.push({ account: companion.person.name, type: type ?? "", chat: to, ids });
    const sender = this.world.senders.get(id);
    if (sender && sender !== companion) this.#forwardReceipt(companion, sender, node);
    else if (type === "retry") await this.delivery.answerRetry(connection, node);
  }

  /** Between two clients: "has arrived", "was read", "I could not decrypt it". */
  #forwardReceipt(companion: Companion, sender: Companion, { attrs, content }: BinaryNode): void {
    const group = this.world.groups.get(attrs["to"] ?? "");
    const own = companion.person.jid(group?.addressing ?? "lid", companion.device);
    const from = group ? { from: group.id, participant: own } : { from: own };
    const { id, type } = attrs;
    this.delivery.push(sender, stanza("receipt", { id, type, t: nowSeconds(), ...from }, content));
  }

  #takeTyping(companion: Companion, node: BinaryNode): void {
    const state = firstChild(node)?.tag ?? "";
    this.world.typing.push({ account: companion.person.name, chat: node.attrs["to"] ?? "", state });
  }
}
