import type { Session } from "../../domain/turns/session.ts";
import type { TurnCollaborators } from "../collaborators.ts";
import type { TurnScope } from "../turn-scope.ts";
import { unlessGone, workStep } from "./collect-messages.ts";
import type { TurnSteps } from "./turn-steps.ts";

type SteeringParts = Pick<TurnCollaborators, "conversation" | "clock" | "roleOf"> & {
  readonly store: Pick<TurnCollaborators["store"], "sessions" | "work">;
};

/**
 * Adds changes and new messages before the model is asked again; messages stay out of a turn whose answer goes
 * elsewhere.
 */
export async function steer(scope: TurnScope, parts: SteeringParts, steps: TurnSteps): Promise<void> {
  const { group, session, settings, turn, hears } = scope;
  const change = await parts.conversation.changeSince(scope);
  if (change) await steps.add(change);
  await tellEndedJobs(scope, parts, steps);
  if (session.kind === "agent") await takeMore(scope, parts, steps);
  if (!hears || turn.replyTo.kind !== "chat") return;
  const { sessions } = parts.store;
  const openSession = (): Promise<Session> => sessions.open(session.key, group.name);
  const collected = await parts.conversation.collect({ group, settings, hears, begins: false }, openSession);
  // What of it still waits comes at the next step.
  if (collected) await unlessGone(steps.add(collected.step));
}

/** Tells a turn about its own ended jobs; other jobs get a separate turn. */
async function tellEndedJobs(scope: TurnScope, parts: SteeringParts, steps: TurnSteps): Promise<void> {
  const { session, turn } = scope;
  for (const id of parts.conversation.takeJobNews(session.id, turn.id)) {
    const work = await parts.store.work.get(id);
    // Somebody may have dropped it.
    if (work?.state !== "due") continue;
    await unlessGone(steps.add(workStep(work, scope, parts)));
  }
}

const moreAtOnce = 20;

/** Adds the parent's further words to a sub-agent; what exceeds the limit comes with the next step. */
async function takeMore(scope: TurnScope, parts: SteeringParts, steps: TurnSteps): Promise<void> {
  for (let taken = 0; taken < moreAtOnce; taken += 1) {
    const more = await parts.store.work.due(scope.session.id, parts.clock.now());
    if (!more) return;
    await unlessGone(steps.add(workStep(more, scope, parts)));
  }
}
