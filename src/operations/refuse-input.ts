import type { FastifyReply } from "fastify";
import type * as z from "zod";

/** Answers a request that does not fit with 400, what is wrong and where. */
export function refuseInput(reply: FastifyReply, { issues: [issue] }: z.ZodError): FastifyReply {
  const message = `${issue?.message ?? "It cannot be read"}.`;
  return reply.code(400).send({ error: { code: "bad_input", message, path: issue?.path.join(".") ?? "" } });
}
