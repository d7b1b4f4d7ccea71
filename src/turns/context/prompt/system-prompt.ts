import type { MountedFolder } from "../../../domain/sandbox/mount.ts";
import { type AgentNotes, memoryFile, notesFolder } from "../../../domain/chats/agent-notes.ts";
import type { Access } from "../../../domain/chats/group.ts";
import {
  instructionChars,
  type InstructionText,
  instructionsFile,
  agentsSetting,
} from "../../../domain/rights/protected-file.ts";
import { silentAnswer } from "../../../domain/chats/silence.ts";
import type { Origin } from "../../../domain/people/origin.ts";
import { from, joined, ofHost, ofOperator, type Sourced, sourced } from "../../../domain/rights/sourced.ts";
import type { Skill, SkillSummary } from "../../../domain/sandbox/skill.ts";
import { escapeAttribute, escapeText } from "../../../lib/text/markup.ts";
import { withoutOwnElements } from "../../../lib/text/own-elements.ts";
import type { ZoneClock } from "../../../lib/time/zone-clock.ts";
import { type PromptTexts, type PromptSectionName, promptSectionNames } from "./sections.ts";
import { fillTemplate, type TemplateValues } from "./template.ts";

/** Maximum characters of each file other than AGENTS.md. */
const maxPersonaChars = 8_000;
const maxMemoryChars = 8_000;
const shownMembers = 50;
const nameChars = 60;
const noteNameChars = 100;

export interface PromptFacts {
  readonly agentName: string;
  readonly group: string;
  /** It works for another agent, not for the chat. */
  readonly isSubAgent?: boolean | undefined;
  /** Folders as they appear in the container. */
  readonly folders: readonly MountedFolder[];
  /**
   * Folders that the operator wanted the agent to have and that the host refuses, as they would appear in the
   * container.
   */
  readonly refusedFolders?: readonly string[];
  readonly instructions: readonly InstructionText[];
  /** Names of the tools that this conversation is offered. */
  readonly tools: readonly string[];
  /** WorkSlots that can be reached, as `host:port`; absent or empty: none. */
  readonly network?: readonly string[];
  /** Additional packages in the container. */
  readonly packages?: string | undefined;
  /** Groups from whose folders words may come that its folders show. */
  readonly sharers: readonly string[];
  /** The chat by its platform; hostile. `origins`: of those who may have chosen its names. */
  readonly chat?:
    | { readonly title?: string | undefined; readonly members: readonly string[]; readonly origins: readonly Origin[] }
    | undefined;
  /** The agent's notes; hostile. */
  readonly notes?: AgentNotes | undefined;
  /** Its skills. */
  readonly skills?: readonly (SkillSummary & Pick<Skill, "origins">)[] | undefined;
  /** Maximum characters of the skills section. */
  readonly skillChars?: number | undefined;
  readonly timeZone: ZoneClock;
  /** When the conversation began, milliseconds since 1970. */
  readonly startedAt: number;
}

/** A section of the system prompt as a model sees it. */
export interface PromptSection {
  readonly name: PromptSectionName;
  readonly said: Sourced;
}

/** The sections that this conversation has, in their order; those that say nothing are left out. */
export function promptSectionsOf(place: PromptFacts, texts: PromptTexts): readonly PromptSection[] {
  const values: Readonly<Record<PromptSectionName, TemplateValues | undefined>> = {
    identity: place.isSubAgent === true ? undefined : whoOf(place),
    "sub-agent": place.isSubAgent === true ? whoOf(place) : undefined,
    runtime: runtime(place),
    chat: chatRules(place),
    purpose: instructionsOf(place, (text) => isOfAgent(text)),
    instructions: instructionsOf(place, (text) => !isOfAgent(text)),
    skills: skills(place, texts.skills),
    members: members(place),
    notes: agentNotes(place),
    zone: zone(place),
  };
  return promptSectionNames.flatMap((name) => {
    const own = values[name];
    const said = own && fillTemplate(texts[name], own);
    return said === undefined || said.text === "" ? [] : [{ name, said }];
  });
}

/**
 * The system prompt in two parts: what stays the same for all conversations of the group, then what belongs to this
 * one. It has no current time, so that it is the same bytes for each call of a conversation; times stand on the
 * messages.
 */
export function systemPrompt(place: PromptFacts, texts: PromptTexts): readonly Sourced[] {
  return joinSections(promptSectionsOf(place, texts));
}

/** The same of sections that are at hand. */
export function joinSections(sections: readonly PromptSection[]): readonly Sourced[] {
  const ofConversation = promptSectionNames.indexOf("members");
  const isStable = ({ name }: PromptSection): boolean => promptSectionNames.indexOf(name) < ofConversation;
  return [sections.filter(isStable), sections.filter((section) => !isStable(section))].map((part) =>
    joined(
      part.map(({ said }) => said),
      "\n\n",
    ),
  );
}

function whoOf({ agentName, group, folders }: PromptFacts): TemplateValues {
  return { agent: ofOperator(agentName), group: ofOperator(group), folder: ownFolder(folders) };
}

/** Says what the agent may do in a folder. */
export const accessWords: Readonly<Record<Access, string>> = {
  rw: "you may change it",
  ro: "read-only",
  review:
    "you may change what you see, but the real folder stays as it is until people have applied your changes: " +
    "they are asked when you are done; say that your changes wait for them, not that they are live",
};

/** Paths that are named; there may be more. */
const shownPaths = 20;

/** `sharers`: groups whose agents may have made what is named in it. */
export function describeFolder(folder: MountedFolder, sharers: readonly string[]): Sourced {
  const { path, access, covered = [], protect = [] } = folder;
  const asked = "they look like secrets, so they are empty here; read_file with a full path asks people for one";
  const hasRepository = protect.some((name) => /(?:^|\/)\.git$/i.test(name));
  const git = hasRepository ? "; git commit and the like fail: leave them to people" : "";
  const words = [
    `${path} (${accessWords[access]})`,
    ...(covered.length === 0 ? [] : [`covered in it: ${namedPaths(covered)} (${asked})`]),
    ...(protect.length === 0
      ? []
      : [`read-only in it: ${namedPaths(protect)} (programs of the operator's obey it${git})`]),
  ].join("; ");
  return sourced(words, [], covered.length + protect.length === 0 ? [] : sharers);
}

function namedPaths(paths: readonly string[]): string {
  const named = paths.slice(0, shownPaths).map((name) => escapeText(JSON.stringify(name)));
  return named.join(", ") + (paths.length > shownPaths ? ` and ${paths.length - shownPaths} more` : "");
}

function runtime(place: PromptFacts): TemplateValues {
  const { folders, refusedFolders = [], network = [], packages = "", tools, sharers } = place;
  const lines = [
    ...folders.map((folder) => ofHost`- ${describeFolder(folder, sharers)}`),
    ...refusedFolders.map(
      (path) =>
        ofHost`- not ${ofOperator(path)}: it was asked for, and the host refuses it until the operator allows it`,
    ),
  ];
  return {
    folders: joined(lines, "\n"),
    network: ofOperator(network.join(", ")),
    packages: ofOperator(packages),
    canFetch: tools.includes("web_fetch"),
    canSearch: tools.includes("web_search"),
  };
}

function chatRules({ agentName, isSubAgent = false, folders, tools }: PromptFacts): TemplateValues {
  return {
    agent: ofOperator(agentName),
    subAgent: isSubAgent,
    folder: ownFolder(folders),
    canSend: tools.includes("send_message"),
    silence: sourced(silentAnswer, []),
  };
}

/** The only one that it may change. */
function ownFolder(folders: PromptFacts["folders"]): Sourced {
  return ofOperator(folders.find(({ access }) => access === "rw")?.path ?? "no folder");
}

function instructionsOf(
  { instructions: all }: PromptFacts,
  isMeant: (text: InstructionText) => boolean,
): TemplateValues | undefined {
  const texts = all.filter(isMeant);
  if (texts.length === 0) return undefined;
  return { files: ofOperator(listed(texts.map(({ file }) => file))), instructions: instructionElements(texts) };
}

/** Each with what it is for, as many as there is room for beside the section's own words. */
function skills({ skills: all = [], skillChars = 0 }: PromptFacts, template: string): TemplateValues | undefined {
  if (all.length === 0) return undefined;
  const lines: string[] = [];
  let chars = template.length;
  for (const { name, description } of all) {
    const line = `<skill name="${name}">${withoutOwnElements(description).replaceAll(/\s+/g, " ")}</skill>`;
    if (chars + line.length > skillChars) break;
    lines.push(line);
    chars += line.length;
  }
  const left = all.length - lines.length;
  const shown = [...lines, ...(left > 0 ? [`${left} more: get_available_skills lists them.`] : [])].join("\n");
  return {
    skills: from(
      all.map(({ origins }) => ({ origins, folders: [] })),
      shown,
    ),
  };
}

function isOfAgent({ file }: InstructionText): boolean {
  return file === agentsSetting;
}

/** Files in elements that they cannot close, shortened if long. */
export function instructionElements(texts: readonly InstructionText[]): Sourced {
  return joined(texts.map(instructionElement), "\n");
}

function instructionElement({ file, text }: InstructionText): Sourced {
  const isMain = file === instructionsFile || file === agentsSetting;
  const { head, omitted } = cutEnd(text.text.toWellFormed(), isMain ? instructionChars : maxPersonaChars);
  const note = omitted > 0 ? `\n[${omitted} characters were left out here; the whole text is in ${file}]` : "";
  const tag = file === instructionsFile ? "<instructions>" : `<instructions file="${file}">`;
  return from([text], `${tag}\n${withoutOwnElements(head).trim()}${note}\n</instructions>`);
}

/** `AGENTS.md, SOUL.md and USER.md` */
function listed(names: readonly string[]): string {
  return new Intl.ListFormat("en-GB").format(names);
}

/** Names are people's own words: they stand in an element that they cannot leave, on one line each. */
function members({ chat }: PromptFacts): TemplateValues | undefined {
  const { title = "", members: all = [], origins = [] } = chat ?? {};
  if (title === "" && all.length === 0) return undefined;
  const shown = all.slice(0, shownMembers).map((name) => `<member>${shortName(name)}</member>`);
  const more = all.length > shownMembers ? [`<omitted count="${all.length - shownMembers}"/>`] : [];
  const titled = title === "" ? [] : [`<title>${shortName(title)}</title>`];
  return { names: sourced([...titled, ...shown, ...more].join("\n"), origins) };
}

/** Its own words, which may be those of whoever wrote to it: shown as that, in elements that they cannot leave. */
function agentNotes({ notes, group }: PromptFacts): TemplateValues | undefined {
  if (!notes) return undefined;
  const { memory, refused, names, hasMore } = notes;
  const { head, omitted } = cutEnd(memory.toWellFormed(), maxMemoryChars);
  const rest = omitted > 0 ? `\n[the rest was left out here; the whole text is in ${memoryFile}]` : "";
  const text = withoutOwnElements(head).trim();
  const lines = names.map((name) => `- ${shortName(name, noteNameChars)}`);
  const parts = [
    ...(text === "" ? [] : [`<notes file="${memoryFile}">\n${text}${rest}\n</notes>`]),
    ...(refused === undefined ? [] : [`${memoryFile} is not shown, because it is no ordinary file (${refused}).`]),
    ...(names.length === 0
      ? []
      : [`<notes folder="${notesFolder}">`, ...lines, ...(hasMore ? ["- …"] : []), "</notes>"]),
  ];
  return { notes: sourced(parts.join("\n"), [], [group]) };
}

function shortName(name: string, chars = nameChars): string {
  return escapeAttribute(Array.from(name).slice(0, chars).join(""));
}

function zone({ timeZone, startedAt }: PromptFacts): TemplateValues {
  return { date: ofOperator(timeZone.dayAt(startedAt)), zone: ofOperator(timeZone.zone) };
}

function cutEnd(text: string, chars: number): { head: string; omitted: number } {
  const head = text.slice(0, chars);
  // A pair of surrogates at the edge is left out as a whole.
  const whole = head.isWellFormed() ? head : head.slice(0, -1);
  return { head: whole, omitted: text.length - whole.length };
}
