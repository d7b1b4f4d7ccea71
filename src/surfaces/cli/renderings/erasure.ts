import { erasedKinds, type ErasureView } from "../../../domain/erasure.ts";
import { visible } from "../../../lib/text/visible.ts";
import type { Output } from "../output.ts";

export function showErasure(
  output: Output,
  { state, ids, groups, erased, files, left }: ErasureView & { readonly state: string },
): void {
  output.line(`Of ${ids.map(visible).join(", ")} in ${groups.join(", ")}:`);
  const counts = erasedKinds.flatMap((kind) => (erased[kind] === undefined ? [] : [`${kind} ${erased[kind]}`]));
  output.line(`  ${state}: ${counts.length === 0 ? "nothing" : counts.join(", ")}`);
  if (files.length > 0)
    output.line("These files belong to agents and hold words or the name of the person; check them yourself:");
  for (const file of files) output.line(`  ${visible(file)}`);
  if (left.length > 0) output.line("Traces remain in:");
  for (const file of left) output.line(`  ${visible(file)}`);
  if (state === "would be erased") output.line("This cannot be undone.");
}
