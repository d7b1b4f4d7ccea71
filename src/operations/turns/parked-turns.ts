import type { Approval } from "../../domain/rights/approval.ts";

/** A turn that waits for people, and the codes of its open questions. */
interface ParkedTurn {
  readonly turn: string;
  readonly group: string;
  readonly waitsFor: readonly string[];
}

/** The turns that wait for answers to these open questions, in the order of asking. */
export function parkedTurns(open: readonly Pick<Approval, "turn" | "group" | "code">[]): ParkedTurn[] {
  const byTurn = Map.groupBy(open, ({ turn }) => turn);
  return [...byTurn].flatMap(([turn, asked]) => {
    if (turn === undefined) return [];
    const waitsFor = asked.map(({ code }) => code);
    return [{ turn, group: asked[0]?.group ?? "", waitsFor }];
  });
}
