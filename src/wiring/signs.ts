import { SignsOfLife } from "../delivery/signs-of-life.ts";
import type { GroupRegistry } from "../intake/group-registry.ts";
import type { Entrances } from "./entrances.ts";

/** Shows signs of life in a group's chat, on channels that can. */
export function createSigns(groups: GroupRegistry, entrances: Entrances): SignsOfLife {
  return new SignsOfLife({
    show: async (name, sign) => {
      const group = groups.byName(name);
      const channel = entrances.channels.find((candidate) => candidate.name === group?.channel);
      if (group) await channel?.signal?.(group.chat, sign);
    },
  });
}
