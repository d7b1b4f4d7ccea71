import type { ResolvedGroup } from "../../domain/settings/resolved-group.ts";
import { type GroupReference, resolveGroup } from "../resolve-group.ts";
import type { Config } from "../schema/config.ts";

/** The configuration that holds: it is replaced as a whole while the host runs. */
export class LiveConfig {
  /** Current configuration; reads each section on access, so it is never outdated. */
  readonly view: Config;
  readonly #onChange: (() => void)[] = [];
  #current: Config;

  constructor(first: Config) {
    this.#current = Object.freeze(first);
    const sections = Object.keys(first) as (keyof Config)[];
    const properties = sections.map((section) => [section, { enumerable: true, get: () => this.#current[section] }]);
    this.view = Object.defineProperties({}, Object.fromEntries(properties) as PropertyDescriptorMap) as Config;
  }

  /** The current configuration as an immutable snapshot. */
  get current(): Config {
    return this.#current;
  }

  /** Returns everything that is configured for a group now. */
  groupOf(group: GroupReference): ResolvedGroup {
    return resolveGroup(this.#current, group);
  }

  replace(next: Config): void {
    this.#current = Object.freeze(next);
    for (const changed of this.#onChange) changed();
  }

  /** Calls `changed`, which must not throw, right after each change. */
  onChange(changed: () => void): void {
    this.#onChange.push(changed);
  }
}
