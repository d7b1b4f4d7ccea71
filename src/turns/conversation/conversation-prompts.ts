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
import type { SkillSummary } from "../../domain/sandbox/skill.ts";
import type { StepBody } from "../../domain/turns/turn.ts";
import { estimateTextTokens } from "../../lib/text/text-tokens.ts";
import type { TurnTools } from "../../tools/conversation-tools.ts";
import type { SessionStore } from "../../stores/contract/session-store.ts";
import type { NewStep } from "../../stores/contract/store.ts";
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
  readonly skillsOf?: (scope: Pick<TurnScope, "group" | "settings">) => readonly SkillSummary[];
  /** Additional packages in the session's container, and failed ones. */
  readonly packagesOf?: (place: Pick<TurnScope, "group" | "session">) => Pick<ToldFacts, "packages" | "lacksPackages">;
  /** Decisions of people about the agent's changes in folders with review. */
  readonly reviewNews?: {
    /** Time of the last one. */
    decidedAt(group: Group): Promise<number | undefined>;
    /** Those since then, in words. */
    since(group: Group, after: number): Promise<string>;
  };
  /** The group's chat by its platform. */
  readonly chatOf: (group: Group) => Promise<Chat | undefined>;
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
  readonly #estimateTokens: (step: StepBody) => number;
  readonly #now: () => number;
  /** Prompts by session, written only here; erasing somebody's words removes them. */
  readonly #known = new LRUCache<string, ConversationPrompt>({ max: rememberedPrompts });
  readonly #rewrites: () => number;
  #lastRewrites = 0;

  constructor(options: {
    readonly sessions: Pick<SessionStore, "prompt" | "setPrompt">;
    readonly sources: PromptSources;
    readonly estimateTokens: (step: StepBody) => number;
    readonly now: () => number;
    /** Goes up when prompts are removed. */
    readonly rewrites?: () => number;
  }) {
    this.#rewrites = options.rewrites ?? (() => 0);
    this.#sessions = options.sessions;
    this.#sources = options.sources;
    this.#estimateTokens = options.estimateTokens;
    this.#now = options.now;
  }

  /**
   * The conversation's prompt, which is made now if it has none: it says that the conversation began at `startedAt`.
   */
  async systemOf(scope: ConversationScope, startedAt: number): Promise<readonly string[]> {
    const known = await this.#promptOf(scope);
    return known ? known.system : this.renew(scope, startedAt);
  }

  /** Makes the prompt anew. For the moments in which its beginning is lost anyway. */
  async renew(scope: ConversationScope, startedAt: number): Promise<readonly string[]> {
    const { turn, session } = scope;
    const { prompt, notes } = await this.#make(scope, await this.#sources.toolsOf(scope), startedAt);
    await this.#sessions.setPrompt(session.id, prompt, notes && { turn: turn.id, at: this.#now() });
    this.#known.set(session.id, prompt);
    return prompt.system;
  }

  /** Prompt of a conversation that begins now with these tools. Not kept. */
  async ifBegun(scope: ConversationScope, tools: OfferedTools): Promise<ConversationPrompt> {
    const { prompt } = await this.#make(scope, tools, this.#now());
    return prompt;
  }

  async #make(
    scope: ConversationScope,
    tools: OfferedTools,
    startedAt: number,
  ): Promise<{ readonly prompt: ConversationPrompt; readonly notes: AgentNotes | undefined }> {
    const { turn, group, session } = scope;
    const { told, instructions } = await this.#facts(scope, tools);
    const notes = await this.#sources.notesOf(group);
    const facts = {
      agentName: told.agentName,
      isSubAgent: session.kind === "agent",
      group: group.name,
      folders: told.folders,
      refusedFolders: this.#sources.refusedFoldersOf(group),
      network: told.network,
      packages: told.packages,
      tools: tools.definitions.map(({ name }) => name),
      chat: { title: told.title, members: told.members },
      instructions,
      notes,
      skills: told.skills,
      skillChars: skillCharsOf(scope),
      timeZone: localClock(scope.settings.timeZone),
      startedAt,
    };
    const parts = promptSectionsOf(facts, await this.#sources.textsOf());
    const system = joinSections(parts);
    const sections = Object.fromEntries(parts.map(({ name, text }) => [name, estimateTextTokens(text)]));
    return { prompt: { conversation: turn.conversation, system, sections, told }, notes };
  }

  /** Changes to tell the model before it is asked again; undefined when none, or nothing was said yet. */
  async changeSince(scope: TurnScope): Promise<NewStep | undefined> {
    const known = await this.#promptOf(scope);
    if (!known) return undefined;
    const { told, instructions } = await this.#facts(scope, await this.#sources.toolsOf(scope));
    if (isDeepStrictEqual(told, known.told)) return undefined;
    const isDecided = told.decidedAt !== undefined && told.decidedAt !== known.told.decidedAt;
    const decisions = isDecided
      ? await this.#sources.reviewNews?.since(scope.group, known.told.decidedAt ?? 0)
      : undefined;
    const text = describeChanges(known.told, told, { instructions, decisions });
    if (text === undefined) return undefined;
    // Read again once it was told: a step that cannot be stored has told nothing.
    this.#known.delete(scope.session.id);
    const body = { kind: "user", text } as const;
    return { body, tokens: this.#estimateTokens(body), at: this.#now(), tells: told };
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
  ): Promise<{
    told: ToldFacts;
    instructions: readonly InstructionText[];
  }> {
    const { group, session, settings } = scope;
    const { instructionsOf, foldersOf, chatOf, skillsOf, packagesOf } = this.#sources;
    const { agent, timeZone, network } = settings;
    const [ofGroup, chat, decided] = await Promise.all([
      instructionsOf(group, session),
      chatOf(group),
      this.#decidedAt(group),
    ]);
    const ofAgent: readonly InstructionText[] =
      agent.instructions === undefined ? [] : [{ file: agentsSetting, text: agent.instructions }];
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
      ...(skills.length > 0 && { skills }),
      ...packagesOf?.({ group, session }),
      ...(tools.length > 0 && { tools }),
      ...decided,
    };
    return { told, instructions };
  }

  async #decidedAt(group: Group): Promise<Pick<ToldFacts, "decidedAt">> {
    const decidedAt = await this.#sources.reviewNews?.decidedAt(group);
    return decidedAt === undefined ? {} : { decidedAt };
  }
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
  const whole = isAgentsAlone ? instructions.map(({ text }) => text).join("") : JSON.stringify(instructions);
  return createHash("sha256").update(whole).digest("hex");
}
