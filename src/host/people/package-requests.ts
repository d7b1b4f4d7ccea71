import { createHash } from "node:crypto";

import type { AllowedChange } from "../../rights/approvals/proposed-changes.ts";
import type { ProposedChange } from "../../domain/rights/approval.ts";
import {
  addPackages,
  countPackages,
  mostPackages,
  packageManagers,
  type PackageLists,
  sortPackages,
} from "../../domain/sandbox/packages.ts";
import { AppError } from "../../lib/app-error.ts";
import { requestPackages } from "../../tools/packages/request-packages.ts";
import type { AppContext } from "../context.ts";
import type { SettingsService } from "../../config/serving/settings-service.ts";

/** Package requests of agents; allowed ones are written like `groups set`. */
export class PackageRequests {
  readonly #live: Pick<AppContext["live"], "groupOf">;
  readonly #settings: Pick<SettingsService, "setGroup">;

  constructor({ live }: Pick<AppContext, "live">, settings: Pick<SettingsService, "setGroup">) {
    this.#live = live;
    this.#settings = settings;
  }

  /** Packages that the group would get, one per line. */
  changeOf(group: string, input: unknown): ProposedChange {
    const now = this.#now(group);
    const then = addPackages(now, readRequest(input));
    const lines = packageManagers.flatMap((manager) => [
      ...now[manager].filter((name) => !then[manager].includes(name)).map((name) => `- ${manager}: ${name}`),
      ...then[manager].filter((name) => !now[manager].includes(name)).map((name) => `+ ${manager}: ${name}`),
    ]);
    return { diff: lines.join("\n"), base: digestOf(now) };
  }

  /** Returns a fault for the model, so that people need not be asked; undefined: none. */
  faultOf(group: string, input: unknown): string | undefined {
    if (this.changeOf(group, input).diff === "")
      return "The group asks for exactly these already: there is nothing to change.";
    const then = addPackages(this.#now(group), readRequest(input));
    const full = packageManagers.find((manager) => then[manager].length > mostPackages);
    return (
      full &&
      `The group would ask for ${then[full].length} packages of ${full}, and at most ${mostPackages} are installed.`
    );
  }

  /** Writes it once, also when it is called again after a crash. */
  async write({ group, content, base, actor, isBegun, begin }: AllowedChange): Promise<"written" | "changed"> {
    const now = this.#now(group);
    const then = addPackages(now, readRequest(JSON.parse(content)));
    if (isBegun && digestOf(then) === digestOf(now)) return "written";
    if (digestOf(now) !== base) return "changed";
    if (!isBegun) await begin();
    const { browser } = this.#live.groupOf({ name: group }).image;
    const lists = Object.fromEntries(packageManagers.flatMap((manager) => said(manager, then)));
    const value = { ...(browser && { browser }), ...lists };
    await this.#settings.setGroup(group, [{ path: ["image"], value }], { actor, via: "chat" });
    return "written";
  }

  #now(group: string): PackageLists {
    return sortPackages(this.#live.groupOf({ name: group }).image);
  }
}

function readRequest(input: unknown): PackageLists {
  const lists = sortPackages(requestPackages.input.parse(input));
  if (countPackages(lists) === 0) throw new AppError("bad_input", "No package is asked for.");
  return lists;
}

function said(manager: (typeof packageManagers)[number], lists: PackageLists): [string, readonly string[]][] {
  return lists[manager].length === 0 ? [] : [[manager, lists[manager]]];
}

function digestOf(lists: PackageLists): string {
  return createHash("sha256").update(JSON.stringify(lists)).digest("hex");
}
