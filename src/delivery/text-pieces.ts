import { isSilent, maySilence } from "../domain/chats/silence.ts";
import { SecretStream } from "../lib/secrets/secret-stream.ts";
import type { SecretPatterns } from "../lib/secrets/secret-stream.ts";
import { redactionMark } from "./redact.ts";

/** A text that is shown while it comes: each piece gives what can be shown by now, and its end the rest. */
export interface TextPieces {
  add(text: string): string;
  end(): string;
}

/**
 * The agent's answer as its reader will get it: without thoughts, without the blanks around it, without secrets, and
 * nothing of one that says nothing.
 */
export function answerPieces(secrets: SecretPatterns): TextPieces {
  const withoutSecrets = new SecretStream(secrets, { replacement: redactionMark, leastHeld: 1 });
  const stages = [new WithoutThoughts(), new WithoutBlanks(), new WithoutSilence()];
  return inOrder([...stages, withoutSecrets, new WholeCharacters()]);
}

/**
 * A program may print nothing more for long: the end of its last line is not held for a few letters, which tell nothing
 * of a secret.
 */
const leastOfOutput = 5;

/** Removes secrets from a tool's output. */
export function outputPieces(secrets: SecretPatterns): TextPieces {
  return inOrder([
    new SecretStream(secrets, { replacement: redactionMark, leastHeld: leastOfOutput }),
    new WholeCharacters(),
  ]);
}

function inOrder(stages: readonly TextPieces[]): TextPieces {
  return {
    add: (text) => stages.reduce((rest, stage) => (rest === "" ? "" : stage.add(rest)), text),
    end: () => stages.reduce((rest, stage) => stage.add(rest) + stage.end(), ""),
  };
}

const tags = ["<internal>", "</internal>"] as const;

/** See `hideThoughts`. What may become a tag is held. */
class WithoutThoughts implements TextPieces {
  #depth = 0;
  #held = "";

  add(text: string): string {
    const parts = (this.#held + text).split(/(<\/?internal>)/i);
    const last = parts.pop() ?? "";
    const begun = beginningOfTag(last);
    this.#held = last.slice(begun);
    return [...parts, last.slice(0, begun)].map((part) => this.#shown(part)).join("");
  }

  end(): string {
    const rest = this.#shown(this.#held);
    this.#held = "";
    return rest;
  }

  #shown(part: string): string {
    const tag = part.toLowerCase();
    if (tag === tags[0]) this.#depth += 1;
    else if (tag === tags[1]) this.#depth = Math.max(0, this.#depth - 1);
    else if (this.#depth === 0) return part;
    return "";
  }
}

/** Returns the start of a possible tag at the end of the text; its length when there is none. */
function beginningOfTag(text: string): number {
  const at = text.lastIndexOf("<");
  const begun = at === -1 ? "" : text.slice(at).toLowerCase();
  return begun !== "" && tags.some((tag) => tag.startsWith(begun)) ? at : text.length;
}

/** Blanks are held until something comes behind them. */
class WithoutBlanks implements TextPieces {
  #hasBegun = false;
  #held = "";

  add(text: string): string {
    const whole = this.#held + text;
    const shown = whole.trimEnd();
    this.#held = whole.slice(shown.length);
    if (this.#hasBegun || shown === "") return shown;
    this.#hasBegun = true;
    return shown.trimStart();
  }

  end(): string {
    return "";
  }
}

/** Characters of an answer that says nothing, with what stands around the word. */
const longestSilence = 200;

/** Holds text back while it may become the silent answer. */
class WithoutSilence implements TextPieces {
  #held: string | undefined = "";

  add(text: string): string {
    if (this.#held === undefined) return text;
    this.#held += text;
    if (this.#held.length < longestSilence && maySilence(this.#held)) return "";
    return this.#release();
  }

  end(): string {
    if (this.#held === undefined || isSilent(this.#held)) return "";
    return this.#release();
  }

  #release(): string {
    const held = this.#held ?? "";
    this.#held = undefined;
    return held;
  }
}

/** Half of a pair is held until the other half comes: alone it is no character. */
class WholeCharacters implements TextPieces {
  #held = "";

  add(text: string): string {
    const whole = this.#held + text;
    const isCut = /[\ud800-\udbff]$/.test(whole);
    this.#held = isCut ? whole.slice(-1) : "";
    return (isCut ? whole.slice(0, -1) : whole).toWellFormed();
  }

  end(): string {
    return this.#held.toWellFormed();
  }
}
