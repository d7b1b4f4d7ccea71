import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { AppError } from "../../lib/app-error.ts";
import { type WebhookAnswer, type WebhookCall, webhookPath } from "../../domain/work/webhook.ts";

/** Judges calls of webhooks, and makes work of them. */
export interface WebhookReceiver {
  receive(call: WebhookCall): Promise<WebhookAnswer>;
}

/** The route of all webhooks: it asks for a signature, and for no token. */
export const webhookRoute = webhookPath(":name");

const bodyBytes = 256 * 1024;
/**
 * Maximum bodies read at once, before their signature is known. One more drops the slowest, so that slow senders keep
 * nobody out.
 */
const mostAtOnce = 64;
const busyRetryS = 1;

/** Takes calls of webhooks. `intake`: undefined while the host is starting. */
export function addWebhookRoutes(routes: FastifyInstance, intake: () => WebhookReceiver | undefined): void {
  routes.register(async (scope) => {
    let atOnce = 0;
    /** Those whose bodies are not all here, the oldest first. */
    const reading = new Set<FastifyRequest["raw"]>();
    scope.removeAllContentTypeParsers();
    // The signature is of the bytes, so they are kept as they came, whatever they are said to be.
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.addHook("onRequest", async ({ raw }, reply) => {
      const [slowest] = reading;
      if (atOnce >= mostAtOnce && !slowest) {
        void reply.header("retry-after", busyRetryS);
        throw new AppError("rate_limited", "Too many calls at once; try again in a second.");
      }
      if (atOnce >= mostAtOnce && slowest) {
        reading.delete(slowest);
        slowest.destroy();
      }
      atOnce += 1;
      reading.add(raw);
      reply.raw.once("close", () => {
        atOnce -= 1;
        reading.delete(raw);
      });
    });
    scope.addHook("preHandler", async ({ raw }) => {
      reading.delete(raw);
    });
    scope.post<{ Params: { name: string } }>(webhookRoute, { bodyLimit: bodyBytes }, (request, reply) =>
      answerCall(intake(), request, reply),
    );
  });
}

async function answerCall(
  intake: WebhookReceiver | undefined,
  request: FastifyRequest<{ Params: { name: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (!intake) throw new AppError("intake_stopped", "The host is starting.");
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  const { headers, ip: address } = request;
  const answer = await intake.receive({ hook: request.params.name, body, headers, address });
  if (answer.outcome === "stored") return reply.code(202).send({ id: answer.id, duplicate: answer.duplicate });
  return refuse(reply, answer);
}

function refuse(
  reply: FastifyReply,
  { error, retryAfterS }: Extract<WebhookAnswer, { outcome: "refused" }>,
): FastifyReply {
  if (retryAfterS !== undefined) void reply.header("retry-after", retryAfterS);
  return reply.code(error.httpStatus).send({ error: { code: error.code, message: error.message } });
}
