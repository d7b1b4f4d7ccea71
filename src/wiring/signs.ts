import { SignsOfLife } from "../delivery/signs-of-life.ts";
import type { GroupRegistry } from "../intake/group-registry.ts";
import type { Doors } from "./doors.ts";

/** Shows signs of life in a group's chat, on channels that can. */
export function createSigns(groups: GroupRegistry, doors: Doors): SignsOfLife {
  return new SignsOfLife({
    show: async (name, sign) => {
      const group = groups.byName(name);
      const channel = doors.channels.find((candidate) => candidate.name === group?.channel);
      if (group) await channel?.signal?.(group.chat, sign);
    },
  });
}
