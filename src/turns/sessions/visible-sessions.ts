import type { Group } from "../../domain/chats/group.ts";
import { isSessionOf, type Session, type SessionVisibility } from "../../domain/turns/session.ts";

/** Longest line of parents that is followed. */
const deepest = 32;

/** The viewing session and its visibility. */
export interface Viewer {
  readonly session: Session;
  readonly visibility: SessionVisibility;
}

/**
 * The sessions that the viewer may see, its own included: those of groups that there are, as the chats that they are
 * now.
 */
export function visibleSessions(
  { session: own, visibility }: Viewer,
  all: readonly Session[],
  groups: readonly Group[],
): Session[] {
  const byName = new Map(groups.map((group) => [group.name, group]));
  const byId = new Map(all.map((session) => [session.id, session]));
  return all.filter((session) => {
    if (session.id === own.id) return true;
    const group = byName.get(session.group);
    if (!group || session.archivedAt !== undefined || !isSessionOf(session, group)) return false;
    if (visibility === "all") return true;
    if (session.group !== own.group || visibility === "self") return false;
    return visibility === "group" || isBelow(session, own.id, byId);
  });
}

/** True when a session works for the one with this id, directly or indirectly. */
function isBelow({ parent }: Session, id: string, byId: ReadonlyMap<string, Session>): boolean {
  let above = parent;
  for (let depth = 0; above !== undefined && depth < deepest; depth += 1) {
    if (above === id) return true;
    above = byId.get(above)?.parent;
  }
  return false;
}
