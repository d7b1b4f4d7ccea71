import type { Publish } from "../../domain/events/event.ts";
import type { GroupChat } from "../../domain/chats/group.ts";
import type { GroupStore } from "../../stores/contract/store.ts";
import type { ConfigReloader } from "../changes/config-reloader.ts";
import type { LiveConfig } from "../changes/live-config.ts";
import type { ServedGroups } from "./served-groups.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { Group } from "../../domain/chats/group.ts";

interface GroupOperationsOptions {
  readonly groups: ServedGroups;
  readonly store: Pick<GroupStore, "folders">;
  readonly reloader: Pick<ConfigReloader, "inTurn">;
  readonly publish: Publish;
}

/** Lists, adds and removes groups for the operator. */
export class GroupOperations {
  readonly #live: LiveConfig;
  readonly #options: GroupOperationsOptions;

  constructor(live: LiveConfig, options: GroupOperationsOptions) {
    this.#live = live;
    this.#options = options;
  }

  list(): readonly Group[] {
    return this.#options.groups.registry.list();
  }

  /** Returns the groups with their settings. */
  settings(): readonly Group[] {
    return this.list();
  }

  /** Returns the owners of folders, also of groups that are gone. */
  folders(): ReturnType<GroupStore["folders"]> {
    return this.#options.store.folders();
  }

  async add(...given: Parameters<GroupRegistry["add"]>): Promise<Group> {
    const { groups, publish } = this.#options;
    const added = await groups.registry.add(...given);
    await groups.arrived.emit(added);
    const { name, channel, chat } = given[0];
    await publish({ type: "group.added", group: name, actor: "operator", data: { name, channel, chat } });
    return added;
  }

  async remove(name: string): Promise<GroupChat> {
    const { groups, reloader, publish } = this.#options;
    const removed = await reloader.inTurn(async () => {
      const group = await groups.registry.remove(name);
      const { [name]: _, ...others } = this.#live.current.groups;
      if (groups.registry.byName(name) === undefined) this.#live.replace({ ...this.#live.current, groups: others });
      return group;
    });
    await publish({ type: "group.removed", group: name, actor: "operator", data: {} });
    return removed;
  }
}
