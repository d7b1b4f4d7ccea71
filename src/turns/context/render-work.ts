import type { Work } from "../../domain/work/work.ts";
import { type Sourced, sourced } from "../../domain/rights/sourced.ts";
import { cutMiddle } from "../../lib/text/cut-middle.ts";
import { escapeAttribute, escapeText } from "../../lib/text/markup.ts";

const maxTextChars = 16_000;

/**
 * Renders work for the model: `<work cause="schedule" from="owner" by="whatsapp:4917…">what is to be done</work>`.
 * `cause` and `from` (origin of the words) are the host's; the text is escaped, and so is a program's payload in a
 * separate `<payload>`.
 */
export function renderWork({
  cause,
  origin,
  lineage: { people, origins },
  text,
  payload,
}: Pick<Work, "cause" | "origin" | "lineage" | "text" | "payload">): Sourced {
  const by = people.length === 0 ? "" : ` by="${escapeAttribute(people.join(" "))}"`;
  const data = payload === undefined ? "" : `\n<payload>${shown(payload)}</payload>`;
  return sourced(`<work cause="${cause}" from="${origin}"${by}>${shown(text)}${data}</work>`, [origin, ...origins]);
}

function shown(text: string): string {
  const { head, tail, omitted } = cutMiddle(text, maxTextChars);
  const cut = omitted > 0 ? `<cut characters="${omitted}"/>` : "";
  return `${escapeText(head)}${cut}${escapeText(tail)}`;
}
