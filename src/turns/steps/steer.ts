import type { Session } from "../../domain/turns/session.ts";
import type { TurnCollaborators } from "../collaborators.ts";
import type { TurnScope } from "../turn-scope.ts";
import { unlessGone, workStep } from "./turn-intake.ts";
import type { TurnSteps } from "./turn-steps.ts";

type SteeringParts = Pick<TurnCollaborators, "conversation" | "clock"> & {
  readonly store: Pick<TurnCollaborators["store"], "sessions" | "work">;
};

/**
 * What has changed and what was said to the agent since the last step goes in before the model is asked again; but
 * nothing that was said goes into a turn whose answer goes elsewhere than to those who spoke.
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
  const intake = await parts.conversation.collect({ group, settings, hears }, openSession);
  // What of it still waits comes at the next step.
  if (intake) await unlessGone(steps.add(intake.step));
}

/** Of jobs that this turn has started it is told now; of others, the session is told by a turn of its own. */
async function tellEndedJobs(scope: TurnScope, parts: SteeringParts, steps: TurnSteps): Promise<void> {
  const { session, settings, turn } = scope;
  for (const id of parts.conversation.takeJobNews(session.id, turn.id)) {
    const work = await parts.store.work.get(id);
    // Somebody may have dropped it.
    if (work?.state !== "due") continue;
    await unlessGone(steps.add(workStep(work, parts.clock.now(), settings.writersOfShared)));
  }
}

const moreAtOnce = 20;

/** What the parent of a sub-agent has said to it meanwhile; what is beyond the bound comes with the next step. */
async function takeMore({ session, settings }: TurnScope, parts: SteeringParts, steps: TurnSteps): Promise<void> {
  for (let taken = 0; taken < moreAtOnce; taken += 1) {
    const more = await parts.store.work.due(session.id, parts.clock.now());
    if (!more) return;
    await unlessGone(steps.add(workStep(more, parts.clock.now(), settings.writersOfShared)));
  }
}
