import type { SessionKind } from "../../domain/turns/session.ts";

/**
 * What an agent may by the session in which it works: say things in the chat beside its answer (`speak`), have itself
 * told something later (`schedule`), propose skills of the group (`propose`), have sub-agents (`spawn`) and look after
 * those that work in the background (`supervise`), begin other sessions (`begin`).
 */
export type SessionRight = "speak" | "schedule" | "propose" | "spawn" | "supervise" | "begin";

/**
 * A sub-agent only answers who it works for, so nobody would hear from it otherwise. What comes of work beside a turn
 * is told by work of its own, so only a session that goes on can have any.
 */
export function rightsOf(kind: SessionKind, { spawns }: { readonly spawns: boolean }): ReadonlySet<SessionRight> {
  const rights = new Set<SessionRight>();
  if (kind !== "agent") rights.add("speak").add("schedule").add("propose");
  if (spawns) rights.add("spawn");
  if (spawns && kind === "main") rights.add("supervise");
  if (kind === "main") rights.add("begin");
  return rights;
}
