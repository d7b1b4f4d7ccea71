import type { ToolResult } from "../../domain/turns/model.ts";
import type { BlobPart, Part, UserContent } from "../../domain/chats/part.ts";
import { describePart, partsOf, toUserContent } from "../../domain/chats/part.ts";
import type { Step } from "../../domain/turns/turn.ts";
import { blobsOf } from "../../domain/turns/turn.ts";
import { formatCaption } from "../../domain/chats/caption.ts";
import { estimateStepTokens } from "./tokens.ts";

/**
 * Images of one request. Anthropic takes only small ones where there are more than 20, and 32 MB for the whole request.
 */
const most = { images: 20, bytes: 20_000_000 } as const;
/** Images and bytes kept after exceeding a limit. */
const kept = { images: 10, bytes: 10_000_000 } as const;

interface Shown {
  readonly part: BlobPart;
  readonly step: number;
}

/**
 * Limits images: above the limit, the oldest become words, down to half, so that many more fit before prompts change
 * again. Depends only on the steps from the window's start on. A step's own images stay while they fit.
 */
export function limitImages(steps: readonly Step[]): readonly Step[] {
  const dropped = new Set<BlobPart>();
  let shown: readonly Shown[] = [];
  for (const [index, { body }] of steps.entries()) {
    const images = imagesIn(body);
    if (images.length === 0) continue;
    shown = [...shown, ...images.map((part) => ({ part, step: index }))];
    if (fits(shown, most)) continue;
    const left = newestOf(shown, index);
    for (const { part } of shown) if (!left.some((one) => one.part === part)) dropped.add(part);
    shown = left;
  }
  return dropped.size === 0 ? steps : steps.map((step) => withoutImages(step, dropped));
}

function newestOf(shown: readonly Shown[], newest: number): readonly Shown[] {
  let left = shown;
  while (left.length > 0 && !fits(left, left[0]?.step === newest ? most : kept)) left = left.slice(1);
  return left;
}

function fits(shown: readonly Shown[], limit: { readonly images: number; readonly bytes: number }): boolean {
  const bytes = shown.reduce((total, { part }) => total + part.bytes, 0);
  return shown.length <= limit.images && bytes <= limit.bytes;
}

function imagesIn(body: Step["body"]): readonly BlobPart[] {
  return blobsOf(body).filter(({ kind }) => kind === "image");
}

/** The same step with words in place of these: the captions that are known, otherwise what they were called. */
export function withoutImages(
  step: Step,
  dropped: ReadonlySet<BlobPart>,
  captions: ReadonlyMap<string, string> = new Map(),
): Step {
  const { body } = step;
  if (body.kind === "model" || !imagesIn(body).some((part) => dropped.has(part))) return step;
  const inWords = (content: UserContent | ToolResult): Part[] =>
    partsOf(content).map((part) =>
      part.kind === "image" && dropped.has(part) ? { kind: "text", text: words(part, captions.get(part.blob)) } : part,
    );
  const less: Step["body"] =
    body.kind === "user"
      ? { kind: "user", ...toUserContent(inWords(body)) }
      : { kind: "tools", results: body.results.map((result) => resultOf(result, inWords(result))) };
  return { ...step, body: less, tokens: Math.min(step.tokens, estimateStepTokens(less)) };
}

function resultOf({ callId, isError }: ToolResult, parts: readonly Part[]): ToolResult {
  return { callId, parts, isError };
}

function words(part: BlobPart, caption: string | undefined): string {
  const said = caption === undefined ? "" : ` ${formatCaption(caption)}`;
  return `${describePart(part)} [not shown anymore, to save space]${said}`;
}
