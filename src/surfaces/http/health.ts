import type { FastifyInstance } from "fastify";

import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import type { ContainerEngine } from "../../sandbox/engine/engine.ts";

/** Time within which the container engine has to answer. */
const engineTimeoutMs = 2_000;

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

/** Returns whether the host takes messages and its container engine answers. */
export async function readinessOf(
  engine: Pick<ContainerEngine, "facts">,
  guard: Pick<IntakeGuard, "state">,
): Promise<Readiness> {
  const intake = guard.state();
  if (!intake.open) return { ready: false, reasons: [intake.reason] };
  const answers = await engine.facts(AbortSignal.timeout(engineTimeoutMs)).then(
    () => true,
    () => false,
  );
  return answers ? { ready: true, reasons: [] } : { ready: false, reasons: ["container engine away"] };
}
