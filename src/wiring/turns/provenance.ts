import type { Group } from "../../domain/group.ts";
import type { Provenance } from "../../domain/policy.ts";
import type { Turn } from "../../domain/turn.ts";
import { askerRole } from "../../people/asker-role.ts";
import type { RoleOf } from "../../people/roles.ts";
import type { Store } from "../../stores/store.ts";

interface ProvenanceOptions {
  readonly origins: Pick<Store["origins"], "provenance">;
  readonly roleOf: RoleOf;
}

/** For whom a turn asks, by all who have asked in it so far, and what it has read by now. */
export async function provenanceOf(
  { origins, roleOf }: ProvenanceOptions,
  group: Group,
  { id, cause }: Pick<Turn, "id" | "cause">,
): Promise<Provenance> {
  const { work, ...known } = await origins.provenance(id);
  const asked = { senders: known.senders, work: cause === "message" ? undefined : work };
  return { role: askerRole(roleOf, group, asked), origins: known.origins };
}
