import type { Group } from "../domain/group.ts";
import type { Provenance } from "../domain/policy.ts";
import type { Turn } from "../domain/turn.ts";
import { askerRole } from "../people/asker-role.ts";
import type { RoleOf } from "../people/roles.ts";
import type { Store } from "../stores/store.ts";

interface ProvenanceOptions {
  readonly store: {
    readonly messages: Pick<Store["messages"], "ofTurn">;
    readonly work: Pick<Store["work"], "ofTurn">;
    readonly origins: Pick<Store["origins"], "ofTurn">;
  };
  readonly roleOf: RoleOf;
}

/** For whom a turn asks, by all who have asked in it so far, and what it has read by now. */
export async function provenanceOf(
  { store, roleOf }: ProvenanceOptions,
  group: Group,
  { id, cause }: Pick<Turn, "id" | "cause">,
): Promise<Provenance> {
  const [messages, work, origins] = await Promise.all([
    store.messages.ofTurn(id),
    cause === "message" ? undefined : store.work.ofTurn(id),
    store.origins.ofTurn(id),
  ]);
  return { role: askerRole(roleOf, group, { messages, work }), origins };
}
