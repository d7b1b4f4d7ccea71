import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IncomingMessage, OutgoingMessage, Sign } from "../../domain/chats/message.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { AcceptMessage, Channel, ChannelEvents, ChannelState, Receipt } from "../channel.ts";
import type { OutgoingMessages } from "../define-channel.ts";
import { ReplySignal } from "./arrivals.ts";
import { asAttachment } from "./attachments.ts";
import { addPostRoute } from "./large-bodies.ts";
import { asReply, type FileRequest, filesPath, sendFile } from "./replies.ts";
import {
  type MessageBody,
  parseMessageBody,
  parseReactionBody,
  parseRepliesQuery,
  type RepliesQuery,
} from "./requests.ts";

export interface HttpOptions {
  /** Gateway for the routes, before it listens; whoever passes its authentication has full access here. */
  readonly routes: FastifyInstance;
  readonly outgoing: OutgoingMessages;
  readonly clock: Clock;
}

const repliesPerAnswer = 100;
const closedRetryAfterS = 5;

/**
 * Programs post messages and fetch replies. A reply counts as sent once it can be fetched: it is read from the outbox
 * itself, as often as anybody likes, so a reader that dies between fetching and using it has lost nothing.
 */
export class HttpChannel implements Channel {
  readonly name = "http";
  /** A reply is a row that readers fetch: it is there once, however often it is announced. */
  readonly idempotent = true;
  readonly #options: HttpOptions;
  readonly #arrivals = new ReplySignal();
  readonly #accepting = new Set<Promise<Receipt>>();
  /** Chats with a person who has waited for a while. */
  readonly #activity = new Map<string, { readonly state: Sign; readonly since: number }>();
  /** Messages above this `seq` are announced, so there is no need to look for them. */
  #newest = Number.POSITIVE_INFINITY;
  #accept: AcceptMessage | undefined;
  #events: ChannelEvents | undefined;
  #state: ChannelState;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#state = { state: "connecting", since: options.clock.now() };
    addPostRoute(options.routes, "/v1/channels/http/messages", (request, reply) => this.#onMessage(request, reply));
    options.routes.post("/v1/channels/http/reactions", (request, reply) => this.#onReaction(request, reply));
    options.routes.get("/v1/channels/http/replies", (request, reply) => this.#onReplies(request, reply));
    options.routes.get<FileRequest>(`${filesPath}:seq`, async (request, reply) =>
      sendFile(reply, await this.#replyOf(request.params.seq)),
    );
    options.routes.get("/v1/channels/http/activity", async () => ({ groups: this.#listActivity() }));
    options.routes.addHook("preClose", async () => this.#arrivals.close());
  }

  async start(accept: AcceptMessage, events?: ChannelEvents): Promise<void> {
    this.#accept = accept;
    this.#events = events;
    this.#changeState("open");
  }

  /** Wakes those who wait; the message itself is where they look. */
  async send({ seq }: OutgoingMessage, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#arrivals.closed) throw new AppError("intake_stopped", "The http channel is closed.");
    this.#newest = Math.max(this.#newest, seq);
    this.#arrivals.announce();
  }

  async signal(chat: string, sign: Sign): Promise<void> {
    if (sign === "idle") this.#activity.delete(chat);
    else if (this.#activity.get(chat)?.state !== sign)
      this.#activity.set(chat, { state: sign, since: this.#options.clock.now() });
  }

  state(): ChannelState {
    return this.#state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#accept = undefined;
    this.#arrivals.close();
    this.#changeState("closed");
    await Promise.allSettled(this.#accepting);
  }

  #changeState(state: ChannelState["state"]): void {
    this.#state = { state, since: this.#options.clock.now() };
    this.#events?.changed(this.#state);
  }

  #listActivity(): { group: string; state: Sign; since: number }[] {
    return [...this.#activity].map(([group, { state, since }]) => ({ group, state, since }));
  }

  async #replyOf(seq: string): Promise<OutgoingMessage | undefined> {
    return /^[1-9]\d{0,14}$/.test(seq) ? this.#options.outgoing.get(Number(seq)) : undefined;
  }

  async #onMessage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = parseMessageBody(request.body);
    if (!body.ok) return refuse(reply, 400, { code: "bad_input", message: body.message, path: body.path });
    const receipt = await this.#handOver(() => this.#accept?.(this.#asMessage(body.value)));
    return answer(reply, { ...body.value, what: "message" }, receipt);
  }

  async #onReaction(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const body = parseReactionBody(request.body);
    if (!body.ok) return refuse(reply, 400, { code: "bad_input", message: body.message, path: body.path });
    const { group: chat, ...said } = body.value;
    const reaction = { ...said, channel: this.name, chat };
    const receipt = await this.#handOver(() => this.#accept && this.#events?.reacted?.(reaction));
    return answer(reply, { ...body.value, what: "reaction" }, receipt);
  }

  #asMessage(body: MessageBody): IncomingMessage {
    const { id, group, sender, text, mention, forwarded, thread, replyTo: quote } = body;
    const attachments = body.attachments.length > 0 ? body.attachments.map(asAttachment) : undefined;
    return { channel: this.name, chat: group, id, sender, text, mention, forwarded, thread, quote, attachments };
  }

  async #handOver(offer: () => Promise<Receipt> | undefined): Promise<Receipt> {
    const accepting = offer();
    if (!accepting) {
      const reason = this.#arrivals.closed ? "the host is stopping" : "the host is starting";
      return { outcome: "refused", reason, retryAfterS: closedRetryAfterS, stopped: true };
    }
    this.#accepting.add(accepting);
    try {
      return await accepting;
    } finally {
      this.#accepting.delete(accepting);
    }
  }

  async #onReplies(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = parseRepliesQuery(request.query);
    if (!query.ok) return refuse(reply, 400, { code: "bad_input", message: query.message, path: query.path });
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    const messages = await this.#poll(query.value, gone.signal);
    return reply.send({ replies: messages.map(asReply), next: messages.at(-1)?.seq ?? query.value.after });
  }

  async #poll({ after, wait }: RepliesQuery, gone: AbortSignal): Promise<readonly OutgoingMessage[]> {
    const over = AbortSignal.any([gone, AbortSignal.timeout(wait * 1000)]);
    for (;;) {
      const { count } = this.#arrivals;
      const messages = after < this.#newest ? await this.#options.outgoing.after(after, repliesPerAnswer) : [];
      if (messages.length === 0 && count === this.#arrivals.count) this.#newest = Math.min(this.#newest, after);
      if (messages.length > 0 || wait === 0 || over.aborted || this.#arrivals.closed) return messages;
      await this.#arrivals.after(count, over);
    }
  }
}

interface Posted extends Pick<MessageBody, "id" | "group"> {
  readonly what: "message" | "reaction";
}

function answer(reply: FastifyReply, { id, group, what }: Posted, receipt: Receipt): FastifyReply {
  if (receipt.outcome === "stored") return reply.code(202).send({ id, duplicate: receipt.duplicate });
  if (receipt.outcome === "refused") return answerRefused(reply, what, receipt);
  return refuse(reply, 404, { code: "not_found", message: `There is no group "${group}" on the http channel.` });
}

function answerRefused(
  reply: FastifyReply,
  what: Posted["what"],
  receipt: Extract<Receipt, { outcome: "refused" }>,
): FastifyReply {
  const { code: why, reason, retryAfterS, stopped } = receipt;
  const message = `The ${what} was rejected: ${reason}.`;
  if (!stopped && retryAfterS === 0) return refuse(reply, 413, { code: "too_large", message, reason: why });
  void reply.header("retry-after", Math.ceil(retryAfterS));
  if (stopped) return refuse(reply, 503, { code: "intake_stopped", message, reason: why });
  return refuse(reply, 429, { code: "rate_limited", message, reason: why });
}

function refuse(
  reply: FastifyReply,
  status: number,
  error: {
    readonly code: string;
    readonly message: string;
    readonly path?: string;
    readonly reason?: string | undefined;
  },
): FastifyReply {
  return reply.code(status).send({ error });
}
