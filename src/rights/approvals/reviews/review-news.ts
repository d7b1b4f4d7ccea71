import type { Group } from "../../../domain/chats/group.ts";
import { containerPaths } from "../../../protocol/paths.ts";
import { type Sourced, sourced } from "../../../domain/rights/sourced.ts";
import type { Store } from "../../../stores/contract/store.ts";
import { tellAgent } from "./review-words.ts";

/** Decisions of which an agent is told at once; older ones it is not told. */
const mostTold = 20;

/** Decisions of people about an agent's changes, for the agent. */
export class ReviewNews {
  readonly #store: Pick<Store["approvals"], "carriedOut">;

  constructor(store: Pick<Store["approvals"], "carriedOut">) {
    this.#store = store;
  }

  /** When people decided last; undefined: never, as far as is known. */
  async decidedAt({ name, mounts }: Pick<Group, "name" | "mounts">): Promise<number | undefined> {
    if (mounts.length === 0) return undefined;
    const [last] = await this.#store.carriedOut(name, { after: 0, limit: 1 });
    return last?.decidedAt;
  }

  /** Says what was decided since then, with the paths that the agent has chosen. */
  async since({ name }: Pick<Group, "name">, after: number): Promise<Sourced> {
    const newest = await this.#store.carriedOut(name, { after, limit: mostTold });
    const text = tellAgent(newest.toReversed(), (target) => `${containerPaths.extra}/${target}`);
    return sourced(text, [], [name]);
  }
}
