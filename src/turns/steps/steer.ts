import type { Session } from "../../domain/turns/session.ts";
import type { TurnOptions, TurnScope } from "../turn-options.ts";
import { collectIntake, unlessGone, workStep } from "./turn-intake.ts";
import type { TurnSteps } from "./turn-steps.ts";

/**
 * What has changed and what was said to the agent since the last step goes in before the model is asked again; but
 * nothing that was said goes into a turn whose answer goes elsewhere than to those who spoke.
 */
export async function steer(scope: TurnScope, options: TurnOptions, steps: TurnSteps): Promise<void> {
  const { group, session, settings, turn, hears } = scope;
  const change = await options.changeSince(scope);
  if (change) await steps.add(change);
  await tellEndedJobs(scope, options, steps);
  if (session.kind === "agent") await takeMore(scope, options, steps);
  if (!hears || turn.replyTo.kind !== "chat") return;
  const { sessions } = options.store;
  const openSession = (): Promise<Session> => sessions.open(session.key, group.name);
  const intake = await collectIntake(options, settings, { group, hears, openSession });
  // What of it still waits comes at the next step.
  if (intake) await unlessGone(steps.add(intake.step));
}

/** Of jobs that this turn has started it is told now; of others, the session is told by a turn of its own. */
async function tellEndedJobs(scope: TurnScope, options: TurnOptions, steps: TurnSteps): Promise<void> {
  const { session, settings, turn } = scope;
  for (const id of options.takeJobNews(session.id, turn.id)) {
    const work = await options.store.work.get(id);
    // Somebody may have dropped it.
    if (work?.state !== "due") continue;
    await unlessGone(steps.add(workStep(options, work, settings.writersOfShared)));
  }
}

const moreAtOnce = 20;

/** What the parent of a sub-agent has said to it meanwhile; what is beyond the bound comes with the next step. */
async function takeMore({ session, settings }: TurnScope, options: TurnOptions, steps: TurnSteps): Promise<void> {
  for (let taken = 0; taken < moreAtOnce; taken += 1) {
    const more = await options.store.work.due(session.id, options.clock.now());
    if (!more) return;
    await unlessGone(steps.add(workStep(options, more, settings.writersOfShared)));
  }
}
