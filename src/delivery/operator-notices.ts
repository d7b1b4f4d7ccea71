import type { Logger } from "pino";

import type { Channel } from "../channels/channel.ts";
import type { Group } from "../domain/chats/group.ts";
import { toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { plainSentence } from "../lib/text/plain-words.ts";
import type { Store } from "../stores/contract/store.ts";
import type { Outbox } from "./outbox.ts";

/** A notice for the operator, also written to the log and the audit log. */
export interface OperatorNotice {
  readonly text: string;
  /** A channel that cannot carry the notice. */
  readonly notThrough?: string | undefined;
  /** A group whose members must not see the notice. */
  readonly hiddenFrom?: string | undefined;
}

/** Says it in a main group; without one that may see it, nowhere. */
export type TellOperator = (notice: OperatorNotice) => void;

/** Tells the operator that a channel needs attention. */
export type Alert = (channel: string, reason: string) => void;

interface NoticeOptions {
  readonly outboxStore: Pick<Store["outbox"], "add">;
  readonly outbox: Pick<Outbox, "wake">;
  readonly groups: { list(): readonly Group[] };
  readonly channels: readonly Pick<Channel, "name" | "state">[];
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

export function createTellOperator(options: NoticeOptions): TellOperator {
  const { outboxStore, clock, logger } = options;
  const isOpen = (name: string): boolean =>
    options.channels.some((channel) => channel.name === name && channel.state().state === "open");
  const tell = async ({ text, notThrough, hiddenFrom }: OperatorNotice): Promise<void> => {
    const mains = options.groups
      .list()
      .filter((group) => group.main && group.channel !== notThrough && group.name !== hiddenFrom);
    const group = mains.find((main) => isOpen(main.channel)) ?? mains[0];
    if (!group) return;
    const { name, channel: through, chat } = group;
    const place = { group: name, channel: through, chat, inReplyTo: [], turn: undefined };
    await outboxStore.add({ ...place, kind: "notice", text }, clock.now());
    options.outbox.wake();
  };
  return (notice) => {
    tell(notice).catch((error: unknown) => {
      logger.error({ err: toError(error), notice: notice.text }, "the operator could not be told about this");
    });
  };
}

export function createAlert(tell: TellOperator): Alert {
  return (channel, reason) =>
    tell({ text: `The channel ${channel} needs you: ${plainSentence(reason)}.`, notThrough: channel });
}
