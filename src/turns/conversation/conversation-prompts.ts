import type { MountedFolder } from "../../domain/sandbox/mount.ts";
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";

import { LRUCache } from "lru-cache";

import { describeChanges } from "../context/changes.ts";
import type { PromptTexts } from "../context/prompt/sections.ts";
import { localClock } from "../../lib/time/zone-clock.ts";
import { joinSections, promptSectionsOf } from "../context/prompt/system-prompt.ts";
import type { AgentNotes } from "../../domain/chats/agent-notes.ts";
import type { ConversationPrompt, ToldFacts } from "../../domain/turns/conversation.ts";
import type { Chat, Group } from "../../domain/chats/group.ts";
import { agentsSetting, type InstructionText, instructionsFile } from "../../domain/rights/protected-file.ts";
import type { Session, SessionKind } from "../../domain/turns/session.ts";
import { type Origin, sortOrigins } from "../../domain/people/origin.ts";
import { ofOperator, type Sourced, sourced, type TextSources, sourcesOf } from "../../domain/rights/sourced.ts";
import type { Skill, SkillSummary } from "../../domain/sandbox/skill.ts";
import type { RoleOf } from "../../rights/people/roles.ts";
import { estimateTextTokens } from "../../lib/text/text-tokens.ts";
import type { TurnTools } from "../../tools/conversation-tools.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import { type SourcedStep, userStep } from "../steps/sourced-step.ts";
import type { ConversationScope, TurnScope } from "../turn-scope.ts";

/** Sources of prompts, all of which may change during a conversation. */
export interface PromptSources {
  /** The texts of the sections, as they are now. */
  readonly textsOf: () => Promise<PromptTexts>;
  readonly instructionsOf: (group: Group, session: Session) => Promise<readonly InstructionText[]>;
  /** Notes of the group's agent. */
  readonly notesOf: (group: Group) => Promise<AgentNotes | undefined>;
  /** Folders as the group's agent sees them. */
  readonly foldersOf: (group: Group, kind: SessionKind) => readonly MountedFolder[];
  /** Folders that the group asks for and does not get. */
  readonly refusedFoldersOf: (group: Group) => readonly string[];
  /** Skills of the group's agent. */
  readonly skillsOf?: (
    scope: Pick<TurnScope, "group" | "settings">,
  ) => readonly (SkillSummary & Pick<Skill, "origins">)[];
  /** Additional packages in the session's container, and failed ones. */
  readonly packagesOf?: (place: Pick<TurnScope, "group" | "session">) => Pick<ToldFacts, "packages" | "lacksPackages">;
  /** Decisions of people about the agent's changes in folders with review. */
  readonly reviewNews?: {
    /** Time of the last one. */
    decidedAt(group: Group): Promise<number | undefined>;
    /** Those since then, in words. */
    since(group: Group, after: number): Promise<Sourced>;
  };
  /** The group's chat by its platform. */
  readonly chatOf: (group: Group) => Promise<Chat | undefined>;
  readonly roleOf: RoleOf;
  /** Tools offered when the conversation began. */
  readonly toolsOf: (scope: ConversationScope) => Promise<OfferedTools>;
}

/** Offered tools, and which of them come from sources. */
type OfferedTools = Pick<TurnTools, "definitions" | "ofSources">;

/** The store has all of them; these are at hand. */
const rememberedPrompts = 512;

/** System prompts of conversations. Each stays as first sent; changes are told in a step in the newest message. */
export class ConversationPrompts {
  readonly #sessions: Pick<SessionStore, "prompt" | "setPrompt">;
  readonly #sources: PromptSources;
  readonly #now: () => number;
  /** Prompts by session, written only here; erasing somebody's words removes them. */
  readonly #known = new LRUCache<string, ConversationPrompt>({ max: rememberedPrompts });
  readonly #rewrites: () => number;
  #lastRewrites = 0;

  constructor(options: {
    readonly sessions: Pick<SessionStore, "prompt" | "setPrompt">;
    readonly sources: PromptSources;
    readonly now: () => number;
    /** Goes up when prompts are removed. */
    readonly rewrites?: () => number;
  }) {
    this.#rewrites = options.rewrites ?? (() => 0);
    this.#sessions = options.sessions;
    this.#sources = options.sources;
    this.#now = options.now;
  }

  /**
   * The conversation's prompt, which is made now if it has none: it says that the conversation began at `startedAt`.
   */
  async systemOf(scope: ConversationScope, startedAt: number): Promise<readonly Sourced[]> {
    const known = await this.#promptOf(scope);
    return known ? sourcedSystem(known) : this.renew(scope, startedAt);
  }

  /** Makes the prompt anew. For the moments in which its beginning is lost anyway. */
  async renew(scope: ConversationScope, startedAt: number): Promise<readonly Sourced[]> {
    const { turn, session } = scope;
    const { prompt, sources } = await this.#make(scope, await this.#sources.toolsOf(scope), startedAt);
    const kept = await this.#sessions.setPrompt(session.id, prompt, { turn: turn.id, ...sources });
    this.#known.set(session.id, kept);
    return sourcedSystem(kept);
  }

  /** Prompt of a conversation that begins now with these tools. Not kept. */
  async ifBegun(
    scope: ConversationScope,
    tools: OfferedTools,
  ): Promise<Pick<ConversationPrompt, "system" | "sections">> {
    const { prompt } = await this.#make(scope, tools, this.#now());
    return prompt;
  }

  async #make(
    scope: ConversationScope,
    tools: OfferedTools,
    startedAt: number,
  ): Promise<{ readonly prompt: Omit<ConversationPrompt, "origins">; readonly sources: TextSources }> {
    const { turn, group, session } = scope;
    const { told, instructions, chat, skills } = await this.#facts(scope, tools);
    const notes = await this.#sources.notesOf(group);
    const facts = {
      agentName: told.agentName,
      isSubAgent: session.kind === "agent",
      group: group.name,
      folders: told.folders,
      sharers: sharersOf(scope),
      refusedFolders: this.#sources.refusedFoldersOf(group),
      network: told.network,
      packages: told.packages,
      tools: tools.definitions.map(({ name }) => name),
      chat: { title: told.title, members: told.members, origins: chat },
      instructions,
      notes,
      skills,
      skillChars: skillCharsOf(scope),
      timeZone: localClock(scope.settings.timeZone),
      startedAt,
    };
    const parts = promptSectionsOf(facts, await this.#sources.textsOf());
    const system = joinSections(parts);
    const sections = Object.fromEntries(parts.map(({ name, said }) => [name, estimateTextTokens(said.text)]));
    const texts = system.map(({ text }) => text);
    return {
      prompt: { conversation: turn.conversation, system: texts, sections, told },
      sources: sourcesOf(system),
    };
  }

  /** Changes to tell the model before it is asked again; undefined when none, or nothing was said yet. */
  async changeSince(scope: TurnScope): Promise<SourcedStep | undefined> {
    const known = await this.#promptOf(scope);
    if (!known) return undefined;
    const tools = await this.#sources.toolsOf(scope);
    const { told, instructions, chat, skills } = await this.#facts(scope, tools);
    if (isDeepStrictEqual(told, known.told)) return undefined;
    const isDecided = told.decidedAt !== undefined && told.decidedAt !== known.told.decidedAt;
    const decisions = isDecided
      ? await this.#sources.reviewNews?.since(scope.group, known.told.decidedAt ?? 0)
      : undefined;
    const said = describeChanges(known.told, told, {
      instructions,
      decisions,
      chat,
      skills: skills.flatMap(({ origins }) => origins),
      tools: tools.definitions.flatMap(({ origins }) => origins),
      sharers: sharersOf(scope),
    });
    if (said === undefined) return undefined;
    // Read again once it was told: a step that cannot be stored has told nothing.
    this.#known.delete(scope.session.id);
    return userStep([said], { at: this.#now(), tells: told });
  }

  async #promptOf({ turn, session }: ConversationScope): Promise<ConversationPrompt | undefined> {
    const rewrites = this.#rewrites();
    if (rewrites !== this.#lastRewrites) this.#known.clear();
    this.#lastRewrites = rewrites;
    const known = this.#known.get(session.id) ?? (await this.#sessions.prompt(session.id));
    if (known?.conversation !== turn.conversation) return undefined;
    this.#known.set(session.id, known);
    return known;
  }

  async #facts(
    scope: ConversationScope,
    { ofSources: tools }: Pick<OfferedTools, "ofSources">,
  ): Promise<ConversationFacts> {
    const { group, session, settings } = scope;
    const { instructionsOf, foldersOf, chatOf, skillsOf, packagesOf } = this.#sources;
    const { agent, timeZone, network } = settings;
    const [ofGroup, chat, decided] = await Promise.all([
      instructionsOf(group, session),
      chatOf(group),
      this.#decidedAt(group),
    ]);
    const ofAgent: readonly InstructionText[] =
      agent.instructions === undefined ? [] : [{ file: agentsSetting, text: ofOperator(agent.instructions) }];
    const instructions = [...ofAgent, ...ofGroup];
    const skills = skillsOf?.({ group, settings }) ?? [];
    const told = {
      agentName: agent.name,
      timeZone: localClock(timeZone).zone,
      instructions: digestOf(instructions),
      title: chat?.title ?? "",
      members: (chat?.members ?? []).map(({ name }) => name),
      folders: foldersOf(group, session.kind),
      network: network.allow,
      ...(skills.length > 0 && { skills: skills.map(({ name, description }) => ({ name, description })) }),
      ...packagesOf?.({ group, session }),
      ...(tools.length > 0 && { tools }),
      ...decided,
    };
    return { told, instructions, skills, chat: this.#originsIn(group, chat) };
  }

  /** Everybody in the chat may have chosen its title; nobody knows who did. */
  #originsIn(group: Group, chat: Chat | undefined): readonly Origin[] {
    const { channel } = group;
    const roles = (chat?.members ?? []).map(({ id }) => this.#sources.roleOf(group, { channel, id }));
    return roles.length === 0 ? ["guest"] : sortOrigins(roles);
  }

  async #decidedAt(group: Group): Promise<Pick<ToldFacts, "decidedAt">> {
    const decidedAt = await this.#sources.reviewNews?.decidedAt(group);
    return decidedAt === undefined ? {} : { decidedAt };
  }
}

/** Facts that a prompt tells, with the origins of what others than the operator may have chosen. */
interface ConversationFacts {
  readonly told: ToldFacts;
  readonly instructions: readonly InstructionText[];
  readonly skills: readonly (SkillSummary & Pick<Skill, "origins">)[];
  readonly chat: readonly Origin[];
}

/** The prompt as it was first shown, with its origins of then, also when folders that it came from are cleared. */
function sourcedSystem({ system, origins }: ConversationPrompt): readonly Sourced[] {
  return system.map((text) => sourced(text, origins));
}

function sharersOf({ group, settings }: Pick<ConversationScope, "group" | "settings">): readonly string[] {
  return [group.name, ...settings.writersOfShared];
}

/** A fiftieth of the window: all else is asked for by a tool. */
const skillShare = 0.02;
const charsPerToken = 4;

function skillCharsOf({ models, group }: Pick<TurnScope, "models" | "group">): number {
  return Math.floor(models.promptTokens(group.model) * skillShare * charsPerToken);
}

/** Digest of instructions; for AGENTS.md alone that of its text, as in older versions. */
function digestOf(instructions: readonly InstructionText[]): string {
  const isAgentsAlone = instructions.every(({ file }) => file === instructionsFile);
  const texts = instructions.map(({ file, text: { text } }) => ({ file, text }));
  const whole = isAgentsAlone ? texts.map(({ text }) => text).join("") : JSON.stringify(texts);
  return createHash("sha256").update(whole).digest("hex");
}
