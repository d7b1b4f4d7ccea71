import type { FastifyInstance } from "fastify";

/** `reasons` say in short words why the host is not ready. Anybody may read them: no names, no paths. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** Routes that anybody may ask, whatever else. */
export const healthRoutes: ReadonlySet<string> = new Set(["/health/live", "/health/ready"]);

/** `live`: the process answers. `ready`: it can take messages and answer them. */
export function addHealthRoutes(server: FastifyInstance, ready: () => Promise<Readiness>): void {
  server.get("/health/live", async () => ({ live: true }));
  server.get("/health/ready", async (_request, reply) => {
    const readiness = await ready();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
}
