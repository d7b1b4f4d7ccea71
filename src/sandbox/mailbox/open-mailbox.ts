import { join } from "node:path";

import type { Logger } from "pino";

import type { Publish } from "../../domain/events/event.ts";
import { hostUid } from "../../lib/process/host-uid.ts";
import type { MailboxRequest } from "../pool/pool-options.ts";
import { HostMailbox } from "./host-mailbox.ts";

/** Returns the folder of one generation's mailbox. `sessions`: the folder that holds the folders of sessions. */
export function mailFolderOf(sessions: string, session: string, generation: number): string {
  return join(sessions, session, "mail", String(generation));
}

/** Opens the mailbox of a container; breaches of its rules are on record. */
export async function openMailbox(
  { session, group, generation, firstId, containerUid, ...events }: MailboxRequest,
  options: { readonly sessions: string; readonly publish: Publish<"mailbox.violated">; readonly logger: Logger },
): Promise<HostMailbox> {
  const { sessions, publish, logger } = options;
  return HostMailbox.open({
    folder: mailFolderOf(sessions, session, generation),
    generation,
    firstId,
    containerUid,
    hostUid: hostUid(),
    ...events,
    onRejected: (reason) => {
      const data = { reason, generation };
      publish({ type: "mailbox.violated", group, session, actor: "agent", data }).catch((error: unknown) =>
        logger.error({ error }, "a violation could not be recorded"),
      );
    },
    logger,
  });
}
