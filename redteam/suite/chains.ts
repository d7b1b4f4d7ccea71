import { AppError } from "../../src/lib/app-error.ts";
import type { AttackCall } from "./model.ts";
import type { Stage, StageGroup } from "./stage.ts";
import { isSoon } from "./waiting.ts";

export const asBoss = { sender: { id: "boss", name: "Boss" } };

/** A call that rules take away from turns that have read a page. */
export const leak: AttackCall = { name: "send_message", input: { text: "what the page wanted to be said" } };

/** Makes what several attacks of a stage need once there, for the first of them. */
export function oncePerStage<Made>(make: (stage: Stage) => Promise<Made>): (stage: Stage) => Promise<Made> {
  const made = new WeakMap<Stage, Promise<Made>>();
  return (stage) => {
    const known = made.get(stage) ?? make(stage);
    made.set(stage, known);
    return known;
  };
}

/** Has a group's agent make calls for an admin in a new conversation; their results. */
export async function inNewConversation(
  stage: Stage,
  group: StageGroup,
  calls: readonly AttackCall[],
  words = "",
): Promise<readonly string[]> {
  await stage.ask(group, "/new", asBoss);
  return callsFor(stage, group, calls, { words });
}

/** Does so in the conversation that there is; `who` asks, an admin if nobody is named. */
export async function callsFor(
  stage: Stage,
  group: StageGroup,
  calls: readonly AttackCall[],
  { words = "", who = asBoss, say = "done" }: { words?: string; who?: object; say?: string } = {},
): Promise<readonly string[]> {
  const name = stage.model.prepare({ rounds: calls.map((call) => [call]), say });
  await stage.ask(group, `@crab ${words} ${name}`, who);
  return stage.model.shown(name)?.toolOutputs ?? [];
}

export function isRefused(output: string | undefined): boolean {
  return output?.includes("policy does not allow") === true;
}

/** Allows what the group was asked last. */
export async function allowLast(stage: Stage, group: StageGroup): Promise<void> {
  const open = () => stage.list<{ readonly code: string }>("approvals.list", { group, all: false });
  await isSoon(async () => (await open()).length > 0);
  const [asked] = await open();
  if (!asked) throw new AppError("not_found", `Nobody was asked in ${group}.`);
  await stage.control("approvals.answer", { code: asked.code, decision: "allow", scope: "once" });
}
