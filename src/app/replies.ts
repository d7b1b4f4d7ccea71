import { formatReply } from "../delivery/format.ts";
import { createReplyRedaction } from "../delivery/redact.ts";
import { toError } from "../lib/app-error.ts";
import type { TurnParts } from "../sessions/turn-parts.ts";
import type { AppContext } from "./context.ts";

/** What goes to a chat: formatted, and without any secret of the host. A secret in it is an alarm. */
export function createFormatReply({ secrets, record, logger, home }: AppContext): TurnParts["formatReply"] {
  const redact = createReplyRedaction(secrets);
  return (text, { group, session, turn }) => {
    // Where the home is concerns nobody in a chat; the reason of a failure may name it.
    const redacted = redact(formatReply(text).replaceAll(home.paths.root, "(home)"));
    if (redacted.count === 0) return redacted.text;
    logger.error(
      { group: group.name, turn: turn.id },
      "a known secret was about to be sent to a chat; it was taken out",
    );
    const about = { group: group.name, session: session.id, turn: turn.id };
    record({ type: "redaction", ...about, actor: "host", data: { count: redacted.count } }).catch((error: unknown) =>
      logger.error({ error: toError(error) }, "a redaction could not be put on record"),
    );
    return redacted.text;
  };
}
