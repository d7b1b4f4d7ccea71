import { ConnectionEnd, SendError } from "../../channel.ts";
import { ownCommand } from "../../../lib/process/own-command.ts";
import type { EndReport, SendOutcome } from "../../../processes/message-schemas.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Instruction for linking an unlinked account. */
const howToLink = `link it with \`${ownCommand("channels login whatsapp")}\``;

/** There is no account yet: the normal state of a new home, and no alarm. */
export function notLinked(): ConnectionEnd {
  return new ConnectionEnd("logged-out", `no account is linked yet; ${howToLink}`, { isAlarm: false });
}

/**
 * Maps an end to its meaning, by WhatsApp's and the library's codes. `refusedVersions`: number of 405 in a row before.
 */
export function connectionEnd(report: EndReport, refusedVersions: number): ConnectionEnd {
  const { code, reason } = report;
  switch (code) {
    case 515:
      return new ConnectionEnd("restart", "WhatsApp asked for a new connection");
    case 440:
      return new ConnectionEnd(
        "conflict",
        "another session has taken over the account; end it, then start this host again",
      );
    case 401:
      return new ConnectionEnd("logged-out", `the account was unlinked on the phone; ${howToLink}`);
    case 402:
      return temporarilyBanned(report);
    case 403:
      return new ConnectionEnd("closed", "WhatsApp has banned the account; ask for a review in the app on the phone");
    case 411:
      return new ConnectionEnd("closed", "the account cannot be used by linked devices; look at the app on the phone");
    case 405:
      return versionRefused(refusedVersions);
    default:
      return new ConnectionEnd("lost", `the connection was lost (${code}: ${reason})`);
  }
}

function temporarilyBanned({ expireS }: EndReport): ConnectionEnd {
  const termMs = expireS === undefined ? 24 * hourMs : expireS * 1_000;
  const term = expireS === undefined ? "" : ` for ${Math.ceil(termMs / minuteMs)} minutes`;
  const facts = { retryAfterMs: termMs, isAlarm: true };
  return new ConnectionEnd("lost", `WhatsApp has banned the account${term}; send less, or less to strangers`, facts);
}

/** Once again with a newer version, then hardly ever: the same answer would come each time. */
function versionRefused(before: number): ConnectionEnd {
  if (before === 0) return new ConnectionEnd("lost", "WhatsApp refused this client's version; trying a newer one");
  const text = "WhatsApp refuses this client's version; update crabpot, or set channels.whatsapp.version";
  return new ConnectionEnd("lost", text, { retryAfterMs: hourMs, isAlarm: true });
}

/**
 * Answers of the server that will not change: forbidden, no such chat, not acceptable, the account may not write there.
 */
const finalRefusals: ReadonlySet<number | undefined> = new Set([401, 403, 404, 405, 406, 463]);

const reasons: Readonly<Record<number, string>> = {
  403: "the account may not write there",
  404: "there is no such chat",
  463: "WhatsApp lets this account write only to people who wrote first",
};

/** Undefined when the message was accepted. */
export function sendError(sent: SendOutcome): SendError | undefined {
  if (sent.outcome === "accepted") return undefined;
  if (sent.outcome === "cut") {
    return new SendError("the connection was cut before WhatsApp had answered", { ambiguous: true });
  }
  const { code, reason } = sent;
  const said = (code === undefined ? undefined : reasons[code]) ?? reason;
  const permanent = finalRefusals.has(code);
  return new SendError(`not accepted: ${said}`, { permanent, ...(code === 429 && { retryAfterMs: minuteMs }) });
}
