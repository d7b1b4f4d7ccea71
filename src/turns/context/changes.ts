import { isDeepStrictEqual } from "node:util";

import type { ToldFacts } from "../../domain/turns/conversation.ts";
import type { Origin } from "../../domain/people/origin.ts";
import { from as made, joined, ofHost, ofOperator, type Sourced, sourced } from "../../domain/rights/sourced.ts";
import type { InstructionText } from "../../domain/rights/protected-file.ts";
import { escapeText } from "../../lib/text/markup.ts";
import { quotedName } from "../../lib/text/plain-words.ts";
import { describeFolder, instructionElements } from "./prompt/system-prompt.ts";

/** Names that one note holds; the others are counted. */
const mostNamed = 20;

/** Words that changes are told with, and where those of others come from. */
export interface ChangeSources {
  /** The texts whose digest the facts hold. */
  readonly instructions: readonly InstructionText[];
  /** Says what people decided about changes of the agent's. */
  readonly decisions?: Sourced | undefined;
  /** Origins of those who may have chosen names in the chat. */
  readonly chat: readonly Origin[];
  /** Origins of the skills that it has now. */
  readonly skills: readonly Origin[];
  /** Origins of its tools' descriptions. */
  readonly tools: readonly Origin[];
  /** Groups whose agents may have made what is covered in folders. */
  readonly sharers: readonly string[];
}

/** Note about changes since the model was told; undefined when none. */
export function describeChanges(before: ToldFacts, now: ToldFacts, from: ChangeSources): Sourced | undefined {
  const sentences = [
    ofOperator(before.agentName === now.agentName ? "" : `You are called ${quotedName(now.agentName)} now.`),
    ofOperator(before.timeZone === now.timeZone ? "" : `Times are in the time zone ${now.timeZone} from here on.`),
    sourced(titleChange(before, now), from.chat),
    sourced(membersChange("joined", difference(now.members, before.members)), from.chat),
    sourced(membersChange("left", difference(before.members, now.members)), from.chat),
    foldersChange(before, now, from.sharers),
    ofOperator(networkChange(before, now)),
    sourced(skillsChange(before, now), from.skills),
    ofOperator(packagesChange(before, now)),
    ...toolsChange(before, now).map((sentence) => sourced(sentence, from.tools)),
    from.decisions ?? ofHost``,
  ].filter(({ text }) => text !== "");
  const notes = sentences.length === 0 ? [] : [hostNote(joined(sentences, " "))];
  if (before.instructions !== now.instructions) notes.push(instructionsChange(from.instructions));
  return notes.length === 0 ? undefined : joined(notes, "\n");
}

function hostNote(said: Sourced): Sourced {
  return made([said], `<host-note>${escapeText(said.text)}</host-note>`);
}

function titleChange(before: ToldFacts, now: ToldFacts): string {
  if (before.title === now.title) return "";
  return now.title === "" ? "The chat has no title anymore." : `The chat is called ${quotedName(now.title)} now.`;
}

function membersChange(what: "joined" | "left", names: readonly string[]): string {
  if (names.length === 0) return "";
  return `${someOf(names.map((name) => quotedName(name)))} ${what} the chat.`;
}

function foldersChange(before: ToldFacts, now: ToldFacts, sharers: readonly string[]): Sourced {
  if (JSON.stringify(before.folders) === JSON.stringify(now.folders)) return ofHost``;
  const folders = now.folders.map((folder) => describeFolder(folder, sharers));
  return ofHost`You have these folders now: ${joined(folders, ", ")}.`;
}

function networkChange(before: ToldFacts, now: ToldFacts): string {
  if (JSON.stringify(before.network) === JSON.stringify(now.network)) return "";
  if (now.network.length === 0) return "There is no network anymore.";
  return `These can be reached over the network now, and nothing else: ${now.network.join(", ")}.`;
}

function skillsChange({ skills: before = [] }: ToldFacts, { skills: now = [] }: ToldFacts): string {
  if (isDeepStrictEqual(before, now)) return "";
  if (now.length === 0) return "You have no skills anymore.";
  return `You have these skills now: ${someOf(now.map(({ name }) => name))}; get_available_skills says what they are for.`;
}

function packagesChange(before: ToldFacts, now: ToldFacts): string {
  const sentences: string[] = [];
  if (before.packages !== now.packages) {
    const has = now.packages === undefined ? "what every agent has" : `besides what every agent has: ${now.packages}`;
    sentences.push(`Your container has been replaced. Installed in it is now ${has}.`);
  }
  if (!before.lacksPackages && now.lacksPackages) sentences.push(lacking);
  return sentences.join(" ");
}

const lacking =
  "Packages that this group has asked for could not be installed; you go on without them. The operator sees why with `crabpot image list`.";

function toolsChange({ tools: before = [] }: ToldFacts, { tools: now = [] }: ToldFacts): string[] {
  const [gained, lost] = [difference(now, before), difference(before, now)];
  return [
    gained.length === 0 ? "" : `You have more tools now: ${someOf(gained)}.`,
    lost.length === 0 ? "" : `These tools are missing for now, and calls of them are refused: ${someOf(lost)}.`,
  ];
}

function someOf(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return `${names.slice(0, mostNamed).join(", ")}${more}`;
}

function instructionsChange(texts: readonly InstructionText[]): Sourced {
  if (texts.length === 0) return hostNote(ofHost`The group's instructions are gone: they no longer apply.`);
  const note = hostNote(
    ofHost`The group's instructions have changed. What follows applies from here on, in place of what was said before:`,
  );
  return joined([note, instructionElements(texts)], "\n");
}

/** Names may stand there several times: people choose them. */
function difference(these: readonly string[], those: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const name of those) left.set(name, (left.get(name) ?? 0) + 1);
  return these.filter((name) => {
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}
