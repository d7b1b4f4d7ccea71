import type { GroupChat } from "../../domain/chats/group.ts";
import type { ModelUsage } from "../../domain/turns/model.ts";
import { agentOfSession } from "../../domain/turns/session.ts";
import type { Turn } from "../../domain/turns/turn.ts";
import { shorten } from "../../lib/text/visible.ts";
import type { Store, TurnOutline, WaitingInGroup } from "../../stores/contract/store.ts";
import { listedChars } from "../definition/schemas.ts";
import { parkedTurns } from "./parked-turns.ts";
import { type TurnLine, viewTurn } from "./turn-view.ts";
import { waitingIn } from "./waiting.ts";

export interface TurnLineOptions {
  readonly groups: { list(): readonly GroupChat[] };
  readonly store: {
    readonly messages: { waitingByGroup(): Promise<WaitingInGroup[]> };
    readonly approvals: Pick<Store["approvals"], "open">;
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly turns: { outlines(turns: readonly string[]): Promise<ReadonlyMap<string, TurnOutline>> };
  };
  /** US dollars; undefined when the model's price is not known. */
  readonly costOf: (model: string, usage: ModelUsage) => number | undefined;
}

/** Maximum turns at once: the store reads all answers of their models. */
const atOnce = 50;

/** Turns as a list shows them, in the order given. */
export async function lineTurns(options: TurnLineOptions, turns: readonly Turn[]): Promise<TurnLine[]> {
  const waiting = await waitingIn(options);
  const mayWait = turns.some(({ state }) => state === "running");
  const parked = mayWait ? parkedTurns(await options.store.approvals.open()) : [];
  const waitsFor = new Map(parked.map((each) => [each.turn, each.waitsFor]));
  const sessions = await options.store.sessions.list();
  const agents = new Map(sessions.map((session) => [session.id, agentOfSession(session)]));
  const lines: TurnLine[] = [];
  for (let start = 0; start < turns.length; start += atOnce) {
    const some = turns.slice(start, start + atOnce);
    const outlines = await options.store.turns.outlines(some.map(({ id }) => id));
    for (const turn of some) {
      const { sender, text, usage } = outlines.get(turn.id) ?? {};
      const question = text === undefined ? undefined : shorten(text.trim().split("\n", 1)[0] ?? "", listedChars);
      const usd = usage && total(usage.map((used) => options.costOf(used.model, used)));
      const view = { ...viewTurn(turn, waiting.get(turn.group)), waitsFor: waitsFor.get(turn.id) };
      lines.push({ ...view, agent: agents.get(turn.session), member: sender, question, usd });
    }
  }
  return lines;
}

function total(costs: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const cost of costs) {
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum;
}
