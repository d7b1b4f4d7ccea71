import { createHash } from "node:crypto";

import type { Group } from "../../domain/chats/group.ts";
import type { ProposedChange } from "../../domain/rights/approval.ts";
import {
  addPackages,
  countPackages,
  type ImageWish,
  mostPackages,
  packageManagers,
  type PackageLists,
  packageRequest,
  sortPackages,
} from "../../domain/sandbox/packages.ts";
import type { Actor } from "../../domain/people/actor.ts";
import { AppError } from "../../lib/app-error.ts";
import type { AllowedChange, Proposals } from "../../rights/approvals/proposals.ts";
import type { AbilityService } from "../define-ability.ts";
import { requestPackages } from "./request-packages.ts";

/** The parts of the host that package requests need. */
export interface PackageNeeds {
  /** The group's own image settings. */
  readonly imageOf: (group: string) => ImageWish;
  /** Writes the setting `image` of a group, as `groups set` does. */
  readonly setImage: (group: string, value: object, actor: Actor) => Promise<unknown>;
}

/** Package requests of agents; allowed ones are written like `groups set`. */
export class PackageRequests implements AbilityService, Proposals {
  readonly proposals = { [packageRequest]: this };
  readonly #needs: PackageNeeds;

  constructor(needs: PackageNeeds) {
    this.#needs = needs;
  }

  /** Packages that the group would get, one per line. */
  changeOf(group: Pick<Group, "name">, input: unknown): ProposedChange {
    const now = this.#now(group.name);
    const then = addPackages(now, readRequest(input));
    const lines = packageManagers.flatMap((manager) => [
      ...now[manager].filter((name) => !then[manager].includes(name)).map((name) => `- ${manager}: ${name}`),
      ...then[manager].filter((name) => !now[manager].includes(name)).map((name) => `+ ${manager}: ${name}`),
    ]);
    return { diff: lines.join("\n"), base: digestOf(now) };
  }

  faultOf(group: Pick<Group, "name">, input: unknown): string | undefined {
    if (this.changeOf(group, input).diff === "")
      return "The group asks for exactly these already: there is nothing to change.";
    const then = addPackages(this.#now(group.name), readRequest(input));
    const full = packageManagers.find((manager) => then[manager].length > mostPackages);
    return (
      full &&
      `The group would ask for ${then[full].length} packages of ${full}, and at most ${mostPackages} are installed.`
    );
  }

  async write({ group, content, base, actor, isBegun, begin }: AllowedChange): Promise<"written" | "changed"> {
    const now = this.#now(group);
    const then = addPackages(now, readRequest(JSON.parse(content)));
    if (isBegun && digestOf(then) === digestOf(now)) return "written";
    if (digestOf(now) !== base) return "changed";
    if (!isBegun) await begin();
    const { browser } = this.#needs.imageOf(group);
    const lists = packageManagers.filter((manager) => then[manager].length > 0);
    const value = {
      ...(browser && { browser }),
      ...Object.fromEntries(lists.map((manager) => [manager, then[manager]])),
    };
    await this.#needs.setImage(group, value, actor);
    return "written";
  }

  /** Nothing is under way between calls. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #now(group: string): PackageLists {
    return sortPackages(this.#needs.imageOf(group));
  }
}

function readRequest(input: unknown): PackageLists {
  const lists = sortPackages(requestPackages.input.parse(input));
  if (countPackages(lists) === 0) throw new AppError("bad_input", "No package is asked for.");
  return lists;
}

function digestOf(lists: PackageLists): string {
  return createHash("sha256").update(JSON.stringify(lists)).digest("hex");
}
