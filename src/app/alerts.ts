import { toError } from "../lib/app-error.ts";
import { plainSentence } from "../lib/plain-words.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { GroupRegistry } from "../router/group-registry.ts";
import type { AppContext } from "./context.ts";
import type { Doors } from "./doors.ts";

/** Tells the operator that a channel needs somebody, in a main group of another channel; the log and the audit log have it anyway. */
export type Alert = (channel: string, reason: string) => void;

export function createAlert(
  { store, clock, logger }: Pick<AppContext, "store" | "clock" | "logger">,
  parts: {
    readonly groups: Pick<GroupRegistry, "list">;
    readonly doors: Pick<Doors, "channels">;
    readonly outbox: Pick<Outbox, "wake">;
  },
): Alert {
  const isOpen = (name: string): boolean =>
    parts.doors.channels.some((channel) => channel.name === name && channel.state().state === "open");
  const tell = async (channel: string, reason: string): Promise<void> => {
    const mains = parts.groups.list().filter((group) => group.main && group.channel !== channel);
    const group = mains.find((main) => isOpen(main.channel)) ?? mains[0];
    if (!group) return;
    const text = `The channel ${channel} needs you: ${plainSentence(reason)}.`;
    const { name, channel: through, chat } = group;
    const place = { group: name, channel: through, chat, inReplyTo: [], turn: undefined };
    await store.outbox.add({ ...place, kind: "notice", text }, clock.now());
    parts.outbox.wake();
  };
  return (channel, reason) => {
    tell(channel, reason).catch((error: unknown) => {
      logger.error({ err: toError(error), channel }, "the operator could not be told about a channel");
    });
  };
}
