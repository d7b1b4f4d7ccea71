import { createHash } from "node:crypto";

import type { Asker, NewApproval, ProposedChange } from "../../domain/rights/approval.ts";
import { newCode } from "../../domain/rights/code.ts";
import type { Group } from "../../domain/chats/group.ts";
import type { OutgoingDraft } from "../../domain/chats/message.ts";
import type { ToolCall } from "../../domain/turns/model.ts";
import type { Origin } from "../../domain/people/origin.ts";
import type { Verdict } from "../../domain/rights/policy.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import { isLiteralCommand } from "../policy/shell/judge-command.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ShownScript } from "../../protocol/messages.ts";
import { cardText } from "./card.ts";
import { noticeIn } from "./words.ts";

const codeLength = 6;

export interface AskingOptions {
  readonly settings: () => { readonly expiresMinutes: number; readonly approvers: Role };
  /** The person that the turn works for. */
  readonly askerOf: (group: Group, turn: string) => Promise<Asker>;
  /** True when somebody in the group's chat has this role. */
  readonly isThere: (group: Group, role: Role) => Promise<boolean> | boolean;
  /** Proposed change of the group's instructions; undefined for a call that proposes none. */
  readonly changeOf: (group: Group, call: ToolCall) => Promise<ProposedChange | undefined>;
  /** True when cards on this channel can be answered by a thumb. */
  readonly byThumb: (channel: string) => boolean;
  readonly randomBelow: (limit: number) => number;
  readonly clock: Pick<Clock, "now">;
}

/** A call, by what was decided about it. */
export interface AskedCall {
  readonly call: ToolCall;
  readonly verdict: Verdict;
  /** Origins read by the turn so far. */
  readonly origins: readonly Origin[];
  /** Folder and scripts, if it is a command. */
  readonly run?: ShownRun | undefined;
}

/** A command's folder in the container, by default the one that shells start in, and what its scripts hold. */
export interface ShownRun {
  readonly directory: string | undefined;
  readonly scripts: readonly ShownScript[];
}

/** Makes of a call what people are asked, and the message that asks them. */
export type Ask = (
  group: Group,
  turn: string,
  asked: AskedCall,
) => Promise<{ readonly approval: NewApproval; readonly card: OutgoingDraft }>;

/** The input of a call as it is kept and compared: equal inputs, and no others, have this digest. */
export function digestInput(input: unknown): { readonly input: string; readonly sha256: string } {
  const text = canonicalJson(input);
  return { input: text, sha256: createHash("sha256").update(text).digest("hex") };
}

/** Input shown to people and covered by a grant; for a command tool also the command. */
export function askedInput({ input }: ToolCall, { command }: Pick<Verdict, "command">): unknown {
  return command ? { command: command.command, arguments: input } : input;
}

/** The model's input within the shown input. `isCommand`: the tool's calls are commands. */
export function calledInput(asked: unknown, isCommand: boolean): unknown {
  return isCommand ? (asked as { readonly arguments?: unknown }).arguments : asked;
}

/** A command with an expansion is known only when it runs: nobody allows it for good. */
async function widestOf({ name, input }: ToolCall, { command }: Pick<Verdict, "command">) {
  if (command === undefined && name !== "shell") return undefined;
  const text = command ? command.command : commandIn(input);
  return text !== undefined && (await isLiteralCommand(text)) ? undefined : "day";
}

function commandIn(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("command" in input)) return undefined;
  return typeof input.command === "string" ? input.command : undefined;
}

/** Asks people, and tells the least role that answers where no rule names one. */
export function createQuestions(options: AskingOptions): { readonly ask: Ask; readonly approvers: () => Role } {
  const ask: Ask = async (group, turn, { call, verdict, origins, run }) => {
    const { expiresMinutes: minutes, approvers: usual } = options.settings();
    const { rule, risk, quorum = 1 } = verdict;
    const change = await options.changeOf(group, call);
    const wanted = verdict.approvers ?? usual;
    // Whoever writes the instructions owns all later conversations.
    const approvers = change && !isAtLeast(wanted, "admin") ? "admin" : wanted;
    const askedAt = options.clock.now();
    const approval: NewApproval = {
      code: newCode(codeLength, options.randomBelow),
      call: call.id,
      tool: call.name,
      ...digestInput(askedInput(call, verdict)),
      risk,
      rule,
      asker: await options.askerOf(group, turn),
      approvers,
      quorum,
      askedAt,
      expiresAt: askedAt + minutes * 60_000,
      origins,
      directory: run?.directory,
      scripts: run && run.scripts.length > 0 ? run.scripts.map(({ path, sha256 }) => ({ path, sha256 })) : undefined,
      widest: await widestOf(call, verdict),
      change,
    };
    const canAnswerHere = await options.isThere(group, approvers);
    const { name, channel, chat, acting } = group;
    const text = cardText(approval, {
      minutes,
      canAnswerHere,
      byThumb: options.byThumb(channel),
      scripts: run?.scripts,
    });
    return { approval, card: { ...noticeIn({ group: name, channel, chat, turn }, text), agent: acting?.name } };
  };
  return { ask, approvers: () => options.settings().approvers };
}
