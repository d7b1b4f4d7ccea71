import type { ProviderRequest } from "../provider.ts";

/** Change to a refused request. */
export interface Adapted<Dialect> {
  readonly change: Partial<Dialect>;
  /** True when it concerns only this request, and so is not kept. */
  readonly isForOnce?: boolean;
}

/** Response to the words of a refusal. */
export interface Lesson<Dialect> {
  readonly says: RegExp;
  readonly unless?: RegExp;
  readonly change: Partial<Dialect>;
  readonly isForOnce?: boolean;
  /** True when the refusal can be about what was sent; always by default. */
  readonly applies?: (request: ProviderRequest, dialect: Dialect) => boolean;
}

/** The first lesson that changes something; each is learned once, so this ends. */
export function learn<Dialect extends object>(
  lessons: readonly Lesson<Dialect>[],
  {
    dialect,
    refusal,
    request,
  }: { readonly dialect: Dialect; readonly refusal: string; readonly request: ProviderRequest },
): Adapted<Dialect> | undefined {
  const lesson = lessons.find(
    ({ says, unless, change, applies }) =>
      says.test(refusal) &&
      unless?.test(refusal) !== true &&
      Object.entries(change).some(([key, value]) => dialect[key as keyof Dialect] !== value) &&
      applies?.(request, dialect) !== false,
  );
  return lesson && { change: lesson.change, isForOnce: lesson.isForOnce ?? false };
}

/** True when the request returns reasoning to the model. */
export function givesThoughts({ messages }: ProviderRequest): boolean {
  return messages.some((message) => message.role === "assistant" && message.thoughts !== undefined);
}

interface DialectsOptions<Dialect> {
  /** Dialect tried first with every model. */
  readonly first: Dialect;
  /** Returns the change for a request refused with this text; `undefined` when nothing helps. Finite. */
  readonly adapt: (dialect: Dialect, refusal: string, request: ProviderRequest) => Adapted<Dialect> | undefined;
  /** Text with which a server refused a request; `undefined` for every other failure. */
  readonly refusalOf: (error: unknown) => string | undefined;
}

/** More than any dialect has differences. */
const mostTries = 10;

/**
 * Dialects of a provider's models. Differences are learned from refusals: the request is changed and repeated, and the
 * accepted dialect is kept, so that a model refuses only once.
 */
export class Dialects<Dialect extends object> {
  readonly #options: DialectsOptions<Dialect>;
  readonly #byModel = new Map<string, Dialect>();

  constructor(options: DialectsOptions<Dialect>) {
    this.#options = options;
  }

  /** Rejects with what the last try was refused with, or failed with. */
  async ask<Answer>(request: ProviderRequest, call: (dialect: Dialect) => Promise<Answer>): Promise<Answer> {
    const known = this.#byModel.get(request.model) ?? this.#options.first;
    let [dialect, lasting] = [known, known];
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await call(dialect);
        if (lasting !== known) this.#byModel.set(request.model, lasting);
        return answer;
      } catch (error) {
        const next = this.#next(error, dialect, request);
        if (next === undefined || tries >= mostTries) throw error;
        if (next.isForOnce !== true) lasting = { ...lasting, ...next.change };
        dialect = { ...dialect, ...next.change };
      }
    }
  }

  #next(error: unknown, dialect: Dialect, request: ProviderRequest): Adapted<Dialect> | undefined {
    const refusal = this.#options.refusalOf(error);
    return refusal === undefined ? undefined : this.#options.adapt(dialect, refusal, request);
  }
}
