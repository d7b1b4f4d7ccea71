import type { Command } from "commander";

import { residualRisks } from "../../../../redteam/residual-risks.ts";
import type { Verdict } from "../../../../redteam/suite/attack.ts";
import { chooseAttacks, loadAttacks, runAttacks } from "../../../../redteam/suite/run.ts";
import { shorten } from "../../../lib/text/visible.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import type { Output } from "../output.ts";

const cellChars = 60;

export function addRedteamCommand(program: Command, context: CommandContext): void {
  addLeaf(program, "redteam", "run every known attack on a throwaway host; exit 1 if one succeeds")
    .option("--only <ids>", "families and attacks, such as A,B3")
    .option("--quick", "only the attacks of `doctor --deep`")
    .option("--list", "list the attacks without running them")
    .action(async (options: RedteamOptions, command: Command) => {
      const output = context.outputOf(command);
      const all = await loadAttacks();
      const named = options.only === undefined ? all : chooseAttacks(all, options.only);
      const attacks = options.quick === true ? named.filter(({ quick }) => quick === true) : named;
      if (options.list === true) return listAttacks(output, attacks);
      const { variables, userHome } = context.environment;
      const verdicts: Verdict[] = [];
      for await (const verdict of runAttacks({ variables, homeFolder: userHome, attacks })) {
        verdicts.push(verdict);
        tell(output, verdict, attacks.length, verdicts.length);
      }
      if (verdicts.some(({ verdict }) => verdict === "FAILED")) context.exitCode = 1;
      return summarize(output, verdicts);
    });
}

interface RedteamOptions {
  readonly only?: string;
  readonly quick?: boolean;
  readonly list?: boolean;
}

function listAttacks(output: Output, attacks: Awaited<ReturnType<typeof loadAttacks>>): void {
  output.items(
    attacks.map(({ id, title, from, expected, quick }) => ({ id, title, from, expected, quick: quick === true })),
    [
      { title: "case", of: (attack) => attack.id },
      { title: "from", of: (attack) => attack.from },
      { title: "attack", of: (attack) => attack.title },
      { title: "expected", of: (attack) => attack.expected },
    ],
    "There are no attacks.",
  );
}

function tell(output: Output, verdict: Verdict, of: number, number: number): void {
  if (output.json) return output.object({ kind: "case", ...verdict });
  const { id, title, faults, elapsedMs } = verdict;
  const seconds = (elapsedMs / 1000).toFixed(1);
  const tone = verdict.verdict === "FAILED" ? "bad" : verdict.verdict === "contained" ? "good" : "dim";
  output.line(`[${number}/${of}] ${verdict.verdict.padEnd(9)} ${id} ${title} (${seconds} s)`, tone);
  if (faults.length > 0) output.line(`    ${faults.join("; ")}; seen: ${shorten(verdict.seen, 600)}`);
  return undefined;
}

function summarize(output: Output, verdicts: readonly Verdict[]): void {
  const count = (wanted: Verdict["verdict"]): number => verdicts.filter(({ verdict }) => verdict === wanted).length;
  const [contained, failed, skipped] = [count("contained"), count("FAILED"), count("skipped")];
  const loopLagMs = Math.max(0, ...verdicts.map((verdict) => verdict.loopLagMs ?? 0));
  const cases = verdicts.length;
  if (output.json) {
    output.object({ kind: "summary", cases, contained, failed, skipped, loopLagMs, residualRisks });
    return;
  }
  output.line("");
  output.items(
    verdicts,
    [
      { title: "case", of: ({ id }) => id },
      { title: "expected", of: ({ expected }) => shorten(expected, cellChars) },
      { title: "seen", of: ({ seen }) => shorten(seen, cellChars) },
      { title: "audit", of: ({ audit }) => shorten(audit, cellChars) },
      { title: "verdict", of: ({ verdict }) => verdict },
    ],
    "No attack was run.",
  );
  output.line("");
  output.line("Not covered, and why:", "bold");
  for (const { risk, why } of residualRisks) output.line(`- ${risk}: ${why}`);
  output.line("");
  output.line(
    `${contained} of ${cases} attacks contained, ${failed} failed, ${skipped} skipped. Longest pause of the host: ${loopLagMs} ms.`,
    failed > 0 ? "bad" : "good",
  );
}
