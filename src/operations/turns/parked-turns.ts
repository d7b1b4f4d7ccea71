import type { Approval } from "../../domain/approval.ts";
import type { ParkedTurn } from "../operations.ts";

/** The turns that wait for answers to these open questions, in the order of asking. */
export function parkedTurns(open: readonly Pick<Approval, "turn" | "group" | "code">[]): ParkedTurn[] {
  const byTurn = Map.groupBy(open, ({ turn }) => turn);
  return [...byTurn].flatMap(([turn, asked]) => {
    if (turn === undefined) return [];
    const waitsFor = asked.map(({ code }) => code);
    return [{ turn, group: asked[0]?.group ?? "", waitsFor }];
  });
}
