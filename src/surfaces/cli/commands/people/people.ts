import { createInterface } from "node:readline/promises";

import type { Command } from "commander";

import { erasedKinds, type ErasureView } from "../../../../domain/erasure.ts";
import { visible } from "../../../../lib/text/visible.ts";
import type { ErasureNeeds } from "../../../../operations/people/operations.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";
import type { Output } from "../../output.ts";
import { erasePerson, lookAtPerson } from "../../../../operations/people/operations.ts";

/** Exit code when a confirmation is missing. */
const notSaidExit = 3;

/** Shows what would be erased before it asks, and needs no running host. */
export function addForgetCommand(people: Command, context: CommandContext): void {
  addLeaf(
    people,
    "forget <id>",
    "erase what a person (`channel:id`) said, and everything derived from it, in the whole home",
  )
    .option("--yes", "do not ask for confirmation")
    .action(async (id: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const output = context.outputOf(command);
      const openHere = async (): Promise<ErasureNeeds & AsyncDisposable> =>
        context.hostFunctions.openOfflineErasure(context.environment, await context.adapters());
      if (!yes) {
        show(output, await context.callOrHere(lookAtPerson, { id }, openHere), "would be erased");
        if (!(await isConfirmed(context, output))) {
          context.exitCode = notSaidExit;
          return;
        }
      }
      show(output, await context.callOrHere(erasePerson, { id }, openHere), "erased");
    });
}

/** Asks for confirmation; only possible at a terminal. */
async function isConfirmed({ streams }: CommandContext, output: Output): Promise<boolean> {
  if (output.json || streams.stdin.isTTY !== true || streams.stdout.isTTY !== true) {
    streams.stderr.write("crabpot: nothing was erased; add --yes to erase this. It cannot be undone.\n");
    return false;
  }
  const asking = createInterface({ input: streams.stdin, output: streams.stdout });
  try {
    const answer = await asking.question("This cannot be undone. Erase it? Write yes: ");
    if (answer.trim().toLowerCase() === "yes") return true;
    output.line("Nothing was erased.");
    return false;
  } finally {
    asking.close();
  }
}

function show(
  output: Output,
  { ids, groups, erased, files, left }: ErasureView,
  state: "would be erased" | "erased",
): void {
  if (output.json) return output.object({ state, ids, groups, erased, files, left });
  output.line(`Of ${ids.map(visible).join(", ")} in ${groups.join(", ")}:`);
  const counts = erasedKinds.flatMap((kind) => (erased[kind] === undefined ? [] : [`${kind} ${erased[kind]}`]));
  output.line(`  ${state}: ${counts.length === 0 ? "nothing" : counts.join(", ")}`);
  if (files.length > 0)
    output.line("These files belong to agents and hold words or the name of the person; check them yourself:");
  for (const file of files) output.line(`  ${visible(file)}`);
  if (left.length > 0) output.line("Traces remain in:");
  for (const file of left) output.line(`  ${visible(file)}`);
}
