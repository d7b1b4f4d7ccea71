import { approvalScopes, changedThing, type NewApproval, widestScope } from "../../domain/rights/approval.ts";
import { packageRequest } from "../../domain/sandbox/packages.ts";
import { skillProposal } from "../../domain/sandbox/skill.ts";
import type { ShownScript } from "../../protocol/messages.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { plainSentence, quotedName } from "../../lib/text/plain-words.ts";
import { writeOut, sizeOf } from "../../lib/text/write-out.ts";

/** Maximum of the beginning and the end on a card. Longer input cannot be allowed in a chat: nobody reads it there. */
const headChars = 1_000;
const tailChars = 500;
const headLines = 28;
const tailLines = 12;
/** Longest input that is rendered as a whole. */
const renderedChars = 16_000;
/** Lines of a script below it. */
const scriptLines = 10;

/** A call's effect, as shown to people. */
interface ShownInput {
  readonly text: string;
  /** Nothing of it was left out. */
  readonly isWhole: boolean;
}

/**
 * The exact input: a command as it is, anything else as JSON. What cannot be seen is written out, and so are marks that
 * would end the block of code in which it stands.
 */
export function wholeInput(input: string): string {
  return writeOut(readable(input));
}

function readable(input: string): string {
  const value: unknown = JSON.parse(input);
  return commandOf(value) ?? JSON.stringify(value, undefined, 2);
}

/** All that is to be looked at before a call is allowed: its input, or what it would change. */
export function wholeCall(approval: Pick<NewApproval, "input" | "change">): string {
  return writeOut(judged(approval));
}

function judged({ input, change }: Pick<NewApproval, "input" | "change">): string {
  if (!change) return readable(input);
  return change.diff === "" ? "(nothing would change)" : change.diff;
}

/** Input, cut to the size of a card: its beginning and its end. */
export function cutInput({
  about,
  input,
  sha256,
  change,
}: Pick<NewApproval, "about" | "input" | "sha256" | "change">): ShownInput {
  if (about === "description" && isCut(input))
    return { text: "(more was said than is kept: all of it cannot be shown)", isWhole: false };
  const raw = judged({ input, change });
  const text = raw.length > renderedChars ? undefined : writeOut(raw);
  if (text !== undefined && fitsCard(text)) return { text, isWhole: true };
  const begins = text ?? writeOut(raw.slice(0, renderedChars / 2));
  const ends = text ?? writeOut(raw.slice(-renderedChars / 2));
  const head = begins.split("\n").slice(0, headLines).join("\n").slice(0, headChars);
  const tail = ends.split("\n").slice(-tailLines).join("\n").slice(-tailChars);
  const mark = `⟨… the middle is left out; SHA-256 of all: ${sha256} …⟩`;
  return {
    text: [head.replace(/[\ud800-\udbff]$/, ""), mark, tail.replace(/^[\udc00-\udfff]/, "")].join("\n"),
    isWhole: false,
  };
}

function fitsCard(text: string): boolean {
  return text.length <= headChars + tailChars && text.split("\n").length <= headLines + tailLines;
}

function isCut(input: string): boolean {
  return (JSON.parse(input) as { readonly cut?: unknown }).cut === true;
}

export interface CardOptions {
  readonly minutes: number;
  /** True when somebody in the chat has the required role. */
  readonly canAnswerHere: boolean;
  /** The channel tells who reacts to what. */
  readonly byThumb: boolean;
  /** Scripts of a command. */
  readonly scripts?: readonly ShownScript[] | undefined;
}

/** Text of the card. */
export function cardText(approval: NewApproval, { minutes, scripts = [], ...where }: CardOptions): string {
  const { code, tool, risk, rule, quorum, asker, change } = approval;
  const { text, isWhole } = cutInput(approval);
  const size = sizeOf(judged(approval));
  const many = quorum > 1 ? ` ${quorum} different people must allow it.` : "";
  return [
    approval.about === "description"
      ? `${plainSentence(asker.name)} changed the description of its tool ${plainSentence(tool)}, so the tool is paused. May I use it as it describes itself now? Code ${code} (${size})`
      : // Anybody may choose the name of somebody else; the id is theirs alone. It must not mention anybody.
        `May I use ${plainSentence(tool)} for ${quotedName(asker.name)} (${plainId(asker.id)})? Code ${code} (${size})`,
    "```",
    text,
    "```",
    ...inFolder(approval),
    ...scripts.flatMap(runsScript),
    ...(change ? whyChange(approval) : []),
    `Risk: ${risk}, asked because ${reasonIn(rule)}.${many} No answer within ${inMinutes(minutes)} counts as a no.`,
    howToAnswer({ approval, isWhole, ...where }),
  ].join("\n");
}

/** A rule has a place, such as `tools.shell`, or is a sentence. */
function reasonIn(rule: string): string {
  return alwaysAsked.test(rule) ? plainSentence(rule) : `of ${plainSentence(rule)}`;
}

const alwaysAsked = /^\w+ is always asked$/;

function howToAnswer({
  approval,
  isWhole,
  canAnswerHere,
  byThumb,
}: Omit<CardOptions, "minutes" | "scripts"> & { readonly approval: NewApproval; readonly isWhole: boolean }): string {
  const { code, approvers } = approval;
  const deny = `/deny ${code} [reason]`;
  if (!canAnswerHere) {
    return `Nobody here can answer (it takes the role ${approvers}); the operator can: ${ownCommand(`approvals show ${code}`)}`;
  }
  if (!isWhole) {
    return `It is too long to be allowed here: the operator can see all of it with ${ownCommand(`approvals show ${code}`)} and allow it there. Here: ${deny}${byThumb ? ", or react with 👎" : ""}`;
  }
  const scopes = approvalScopes.slice(0, approvalScopes.indexOf(widestScope(approval)) + 1);
  const thumbs = byThumb ? ", or react with 👍 (once) or 👎" : "";
  const choice = scopes.length > 1 ? ` [${scopes.join("|")}]` : "";
  const answer = `Answer (${approvers} or higher): /approve ${code}${choice} or ${deny}${thumbs}`;
  return scopes.length > 1 ? `${answer}\n${boundTo(approval)}` : answer;
}

/** Limits of "session" and longer scopes, in words. */
function boundTo({ asker, origins = [], directory }: NewApproval): string {
  const where = directory === undefined ? "" : " in this folder";
  const read = origins.length === 0 ? "nothing from elsewhere" : `at most ${origins.join(", ")}`;
  return `Longer than once, it covers this call${where}, asked for by ${asker.role} or higher, after reading ${read}.`;
}

/** A script that the command runs: it does what stands in there, not what the command says. */
function runsScript({ path, sha256, bytes = 0, beginning }: ShownScript): string[] {
  const name = writeOut(JSON.stringify(path));
  if (sha256 === undefined) return [`It runs ${name}, which does not exist yet or cannot be read.`];
  const about = `It runs ${name} (${bytes} bytes, SHA-256 ${sha256.slice(0, 12)})`;
  if (beginning === undefined) return [`${about}, which is no text.`];
  const lines = beginning.split("\n").slice(0, scriptLines).join("\n");
  const isWhole = Buffer.byteLength(lines) >= bytes - 1;
  return [`${about}${isWhole ? ":" : ", which begins:"}`, "```", writeOut(lines), "```"];
}

function inFolder({ directory }: NewApproval): string[] {
  return directory === undefined ? [] : [`In the folder ${writeOut(JSON.stringify(directory))}.`];
}

/** The agent's explanation of its proposal; hostile. */
function whyChange(approval: Pick<NewApproval, "about" | "tool" | "input">): string[] {
  const { reason } = JSON.parse(approval.input) as { readonly reason?: unknown };
  const said = typeof reason === "string" ? plainSentence(reason) : "";
  return [whatChanges(approval), ...(said === "" ? [] : [`The agent says why: “${said}”`])];
}

function whatChanges(approval: Pick<NewApproval, "about" | "tool" | "input">): string {
  const thing = changedThing(approval);
  if (approval.about === "description")
    return "This is the server's text for every agent that uses it. Nobody here asked for what it says.";
  if (approval.tool === skillProposal) return `It would change ${thing}, which this group's agent then follows.`;
  if (approval.tool === packageRequest)
    return `It would change ${thing}, which the group's containers then have. New packages come from their publishers, and their scripts run with network access in a separate build.`;
  return "It would change AGENTS.md, the instructions of this group.";
}

/** `30 minutes`, `one minute`, `40 seconds`. */
export function inMinutes(minutes: number): string {
  if (minutes < 1) return `${Math.max(1, Math.round(minutes * 60))} seconds`;
  return minutes === 1 ? "one minute" : `${Math.round(minutes)} minutes`;
}

function commandOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 1) return undefined;
  return "command" in value && typeof value.command === "string" ? value.command : undefined;
}

function plainId(id: string): string {
  return id
    .slice(0, 100)
    .replaceAll("@", " at ")
    .replaceAll(/[^A-Za-z0-9 .:+_-]/g, " ");
}
