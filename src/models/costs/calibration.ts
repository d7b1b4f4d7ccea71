import type { ModelUsage } from "../../domain/turns/model.ts";

/** Bounds of the factor, whatever a model reports. */
const bounds = { least: 0.5, most: 4 } as const;
/** Shorter prompts say little: what vendors add to each message weighs more than its words. */
const leastTokens = 1_000;
/** Weight of a new figure: up fast, as a prompt might not fit, down slowly. */
const share = { up: 0.5, down: 0.1 } as const;
/** Minimum change of the kept factor. */
const tolerance = 0.02;

/** No window is taken to be smaller, whatever a server says, or where it says nothing. */
const leastWindow = { said: 1_000, guessed: 4_000 } as const;

/** A prompt that a model's server refused as too long. */
export interface RefusedPrompt {
  /** By our own count. */
  readonly estimated: number;
  /** Maximum tokens of the requested answer. */
  readonly answerTokens: number;
  /** Configured or known window. */
  readonly windowTokens: number;
  /** Window reported by the server. */
  readonly saidTokens: number | undefined;
}

/** Persistent store of factors. */
export interface FactorStore {
  tokenFactors(): Promise<ReadonlyMap<string, number>>;
}

/**
 * Learns each model's real tokens per estimated token from its reports. Estimates stay unchanged; the factor applies
 * when they are compared with a window or a price.
 */
export class TokenCalibration {
  readonly #factors = new Map<string, number>();
  readonly #kept = new Map<string, number>();
  readonly #windows = new Map<string, number>();
  #onWindow: ((model: string, windowTokens: number) => void) | undefined;

  /** Registers the store that keeps learned windows over restarts. */
  tellWindows(onWindow: (model: string, windowTokens: number) => void): void {
    this.#onWindow = onWindow;
  }

  /** Takes over what an earlier life of the host has learned of a window, unless more is known by now. */
  takeWindow(model: string, windowTokens: number): void {
    this.#windows.set(model, Math.min(this.windowOf(model), windowTokens));
  }

  /** Takes over what an earlier life of the host has learnt. What was learnt since counts more. */
  async load(store: FactorStore): Promise<void> {
    for (const [model, factor] of await store.tokenFactors()) {
      this.#kept.set(model, within(factor));
      if (!this.#factors.has(model)) this.#factors.set(model, within(factor));
    }
  }

  /** 1 until something is known. */
  factorOf(model: string): number {
    return this.#factors.get(model) ?? 1;
  }

  /** A model has answered, and may have counted the prompt. Returns the factor when it should be kept anew. */
  learn(
    model: string,
    { estimated, counted }: { readonly estimated: number; readonly counted: ModelUsage | undefined },
  ): number | undefined {
    if (!counted || counted.isEstimate) return undefined;
    return this.report(model, { estimated, counted: counted.inputTokens });
  }

  /** A model has counted a prompt. Returns the factor when it should be kept anew. */
  report(model: string, prompt: { readonly estimated: number; readonly counted: number }): number | undefined {
    const { estimated, counted } = prompt;
    if (!(estimated >= leastTokens) || !(counted > 0)) return undefined;
    // Estimates are never so high. A server that counts nothing, or the same each time, must not make prompts grow out
    // of their window.
    if (counted / estimated < bounds.least) return undefined;
    const before = this.factorOf(model);
    const seen = within(counted / estimated);
    return this.#set(model, before + (seen - before) * (seen > before ? share.up : share.down));
  }

  /**
   * Known tokens for prompt and answer, from the server's refusals; Infinity when nothing contradicts the
   * configuration.
   */
  windowOf(model: string): number {
    return this.#windows.get(model) ?? Infinity;
  }

  /**
   * A prompt that should have fitted did not. A server that says how large its window is, is believed where that is
   * less than was thought. One that does not has counted more than we have, if our own count was put down; otherwise
   * its window is smaller than was thought.
   */
  tooLong(model: string, refused: RefusedPrompt): void {
    const { estimated, answerTokens, saidTokens } = refused;
    const known = Math.min(refused.windowTokens, this.windowOf(model));
    if (saidTokens !== undefined && saidTokens < known) {
      this.#learnWindow(model, Math.max(saidTokens, leastWindow.said));
      return;
    }
    const factor = this.factorOf(model);
    const more = Math.max(1, factor) * 1.25;
    // Where the window is known, so is what the prompt had at least.
    if (saidTokens !== undefined) this.#set(model, Math.max(more, (1.1 * (known - answerTokens)) / estimated));
    else if (factor < 1) this.#set(model, more);
    else {
      const less = Math.floor((estimated * factor + answerTokens) * 0.75);
      this.#learnWindow(model, Math.min(known, Math.max(less, leastWindow.guessed)));
    }
  }

  /** Forgets the model's learned window: the name may stand for another model now. */
  forgetWindow(model: string): void {
    this.#windows.delete(model);
  }

  /** Forgets everything learned about the model. */
  forget(model: string): void {
    this.#windows.delete(model);
    this.#factors.delete(model);
    this.#kept.delete(model);
  }

  #learnWindow(model: string, windowTokens: number): void {
    this.#windows.set(model, windowTokens);
    this.#onWindow?.(model, windowTokens);
  }

  #set(model: string, value: number): number | undefined {
    const factor = within(value);
    this.#factors.set(model, factor);
    const kept = this.#kept.get(model) ?? 1;
    if (Math.abs(factor - kept) <= kept * tolerance) return undefined;
    this.#kept.set(model, factor);
    return factor;
  }
}

function within(factor: number): number {
  return Number.isFinite(factor) ? Math.min(bounds.most, Math.max(bounds.least, factor)) : 1;
}
