import type { SessionPool } from "./pool.ts";

/** Ends the containers of a group. False, and none is ended: a turn is at work in one. */
export async function endGroup(
  pool: Pick<SessionPool, "list" | "stop">,
  group: string,
  reason: string,
): Promise<boolean> {
  const ofGroup = pool.list().filter((container) => container.group === group);
  if (ofGroup.some(({ state }) => state === "busy")) return false;
  await Promise.all(ofGroup.map(({ session }) => pool.stop(session, reason)));
  return true;
}
