import { givesThoughts, learn } from "../wire/dialects.ts";
import type { Adapted, Lesson } from "../wire/dialects.ts";
import type { ProviderRequest } from "../provider.ts";
import type { EffortStyle } from "./effort.ts";
import type { ServerTraits } from "./server-traits.ts";

/** Differences between Chat Completions servers. Unknown ones are learned from refusals: see `adapt`. */
export interface OpenAiDialect {
  /** Some servers refuse `stream_options`; then the usage is estimated. */
  readonly usageInStream: boolean;
  readonly outputLimit: "max_completion_tokens" | "max_tokens";
  /** OpenAI's models from GPT-5.2 on take tools here only with this, even where no effort was asked for. */
  readonly effortNone: boolean;
  /** The field that names the limit is swapped at most once. */
  readonly isLimitSwapped: boolean;
  /** Returns reasoning where it came from; dropped for a server that refuses it. */
  readonly thoughts: boolean;
  /** Style for setting the effort; undefined when unsupported or refused. */
  readonly effort: EffortStyle | undefined;
  readonly temperature: boolean;
  /** Every answer has to bring thoughts along; where there are none, words in their place. */
  readonly wantsThoughts: boolean;
  /** Such words are refused too: it must not think now. */
  readonly isThoughtless: boolean;
  /** Every step's calls have to bring a signature along; where there is none, the one that the vendor has for that. */
  readonly wantsSignatures: boolean;
  readonly callIds: "usual" | "short";
  /** People do not speak straight after a tool. */
  readonly answersTools: boolean;
}

export function firstDialect(traits: ServerTraits): OpenAiDialect {
  return {
    usageInStream: true,
    outputLimit: traits.outputLimit ?? "max_tokens",
    effortNone: false,
    isLimitSwapped: false,
    thoughts: true,
    effort: traits.effort,
    temperature: true,
    wantsThoughts: traits.wantsThoughts ?? false,
    isThoughtless: false,
    wantsSignatures: traits.wantsSignatures ?? false,
    callIds: traits.shortCallIds ? "short" : "usual",
    answersTools: traits.answersTools ?? false,
  };
}

const lacks = /must|missing|required/i;

/** The words are those of the servers that are named, and of those behind them that run the same models. */
const lessons: readonly Lesson<OpenAiDialect>[] = [
  // Mistral, and vLLM with Mistral's tokenizer.
  { says: /tool call id.{0,200}length of 9/is, change: { callIds: "short" } },
  { says: /unexpected role .?user.? after role .?tool/i, change: { answersTools: true } },
  // Gemini. Signatures of another account are worth nothing.
  { says: /thought.?signature/i, unless: /invalid|corrupt/i, change: { wantsSignatures: true } },
  { says: /thought.?signature/i, change: { wantsSignatures: true, thoughts: false }, isForOnce: true },
  // DeepSeek, Kimi.
  { says: /^(?=.*reasoning_content)(?=.*(?:must|missing|required))/is, change: { wantsThoughts: true } },
  {
    says: /^(?=.*reasoning_content)(?=.*(?:must|missing|required))/is,
    change: { isThoughtless: true },
    isForOnce: true,
  },
  {
    says: /\b(reasoning(_content|_details)?|extra_content)\b/,
    unless: lacks,
    change: { thoughts: false },
    applies: givesThoughts,
  },
  { says: /stream_options/, change: { usageInStream: false } },
  { says: /temperature/, change: { temperature: false }, applies: ({ temperature }) => temperature !== undefined },
  // OpenAI: it would think about its tools only in its other API.
  {
    says: /reasoning_effort/,
    change: { effortNone: true },
    applies: ({ thinking }, { effort }) => effort !== undefined && thinking === undefined,
  },
  { says: /^(?=.*reasoning_effort)(?=.*(?:tools|function))/is, change: { effortNone: true } },
  {
    says: /^(?=.*reasoning_effort)(?=.*(?:high\W+or\W+none|none\W+or\W+high))/is,
    change: { effort: "highOrNone" },
    applies: ({ thinking }, { effort }) => thinking !== undefined && effort === "effort",
  },
  {
    says: /thinking|reasoning|chat_template_kwargs/i,
    change: { effort: undefined },
    applies: ({ thinking }) => thinking !== undefined,
  },
];

/** Returns the change for a request refused with this text; `undefined` when nothing helps. */
export function adapt(
  dialect: OpenAiDialect,
  refusal: string,
  request: ProviderRequest,
): Adapted<OpenAiDialect> | undefined {
  return learn(lessons, { dialect, refusal, request }) ?? withOtherLimit(dialect, refusal);
}

function withOtherLimit(dialect: OpenAiDialect, refusal: string): Adapted<OpenAiDialect> | undefined {
  if (dialect.isLimitSwapped || !/max_(completion_)?tokens/.test(refusal)) return undefined;
  // Both names occur in OpenAI's refusal; only the one that was sent says that it is about the name and not about the
  // number.
  const isAboutName = /unsupported|not supported|unrecognized|unknown|extra|not permitted|instead/i.test(refusal);
  if (!isAboutName) return undefined;
  const outputLimit = dialect.outputLimit === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  return { change: { outputLimit, isLimitSwapped: true } };
}
