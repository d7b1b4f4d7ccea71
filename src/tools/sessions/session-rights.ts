import type { SessionKind } from "../../domain/turns/session.ts";

/**
 * An agent's rights by its session: speak in the chat besides its answer (`speak`), schedule (`schedule`), propose
 * skills (`propose`), have sub-agents (`spawn`), look after background ones (`supervise`), begin other sessions
 * (`begin`).
 */
export type SessionRight = "speak" | "schedule" | "propose" | "spawn" | "supervise" | "begin";

/**
 * Rights of a kind of session. A sub-agent only answers its parent, so nobody else hears from it. Background work
 * reports by new work, so only a lasting session can have any.
 */
export function rightsOf(kind: SessionKind, { spawns }: { readonly spawns: boolean }): ReadonlySet<SessionRight> {
  const rights = new Set<SessionRight>();
  if (kind !== "agent") rights.add("speak").add("schedule").add("propose");
  if (spawns) rights.add("spawn");
  if (spawns && kind === "main") rights.add("supervise");
  if (kind === "main") rights.add("begin");
  return rights;
}
