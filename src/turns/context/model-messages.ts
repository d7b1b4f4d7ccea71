import type { ModelMessage, ToolCall, ToolResult } from "../../domain/turns/model.ts";
import type { UserContent } from "../../domain/chats/part.ts";
import { isBlob, partsOf } from "../../domain/chats/part.ts";
import type { Step } from "../../domain/turns/turn.ts";

type Body<Kind extends Step["body"]["kind"]> = Extract<Step["body"], { kind: Kind }>;

/**
 * The conversation that a history of steps stands for. Whatever the history, each call has exactly one result and each
 * result its call, in the order of the calls and directly after them; the first message is a user's. A call whose
 * result never came, because the turn was interrupted, gets the result "interrupted, result unknown".
 */
export function toModelMessages(steps: readonly Step[]): ModelMessage[] {
  const bodies = steps.map((step) => step.body);
  const first = bodies.findIndex((body) => body.kind === "user" && !isEmpty(body));
  return first === -1 ? [] : exchanges(bodies.slice(first)).flatMap(toMessages);
}

/** An answer with all that came before the next answer. The first exchange has none. */
interface Exchange {
  readonly answer: Body<"model"> | undefined;
  readonly later: (Body<"user"> | Body<"tools">)[];
}

function exchanges(bodies: readonly Step["body"][]): Exchange[] {
  const found: Exchange[] = [{ answer: undefined, later: [] }];
  for (const body of bodies)
    if (body.kind === "model") found.push({ answer: body, later: [] });
    else found.at(-1)?.later.push(body);
  return found;
}

function toMessages({ answer, later }: Exchange): ModelMessage[] {
  const users = later
    .filter((body) => body.kind === "user")
    .filter((body) => !isEmpty(body))
    .map(({ kind: _user, ...content }): ModelMessage => ({ role: "user", ...content }));
  return answer === undefined ? users : [...toAnswer(answer, later), ...users];
}

function toAnswer({ answer, denied }: Body<"model">, later: Exchange["later"]): ModelMessage[] {
  const { text, toolCalls } = answer;
  const thoughts = answer.thoughts && { by: answer.model, items: answer.thoughts };
  const said = { role: "assistant", text, toolCalls, ...(thoughts && { thoughts }) } as const;
  if (toolCalls.length === 0) return text.trim() === "" ? [] : [said];
  const given = new Map<string, ToolResult>();
  for (const result of later.flatMap((body) => (body.kind === "tools" ? body.results : [])))
    if (!given.has(result.callId)) given.set(result.callId, result);
  for (const result of denied) given.set(result.callId, result);
  const results = toolCalls.map((call) => given.get(call.id) ?? interrupted(call));
  return [said, { role: "tool", results }];
}

function isEmpty(content: UserContent): boolean {
  return partsOf(content).every((part) => !isBlob(part) && part.text.trim() === "");
}

function interrupted(call: ToolCall): ToolResult {
  return { callId: call.id, output: "interrupted, result unknown", isError: true };
}
