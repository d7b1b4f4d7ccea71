import { hasTrait } from "../../config/adapters.ts";
import type { Outbox } from "../../delivery/outbox.ts";
import { Progress } from "../../delivery/progress.ts";
import { SignsOfLife } from "../../delivery/signs-of-life.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { AppContext } from "../context.ts";
import type { Entrances } from "../chats/entrances.ts";

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

/** Shows what turns are doing, as the configuration wants it. */
export function createProgress(
  context: AppContext,
  { entrances, outbox }: { readonly entrances: Entrances; readonly outbox: Pick<Outbox, "wake"> },
): Progress {
  const { live, store, clock } = context;
  return new Progress({
    settingsOf: (group) => live.groupOf(group).progress,
    channelOf: ({ channel: name }) => {
      const channel = entrances.channels.find((candidate) => candidate.name === name);
      return channel && { channel, edits: hasTrait(context, name, "edits") };
    },
    notify: async (draft) => {
      await store.outbox.add(draft, clock.now());
      outbox.wake();
    },
    clock,
  });
}
