/** A piece of an answer, parted. */
interface Taken {
  readonly text: string;
  readonly thought: string;
}

const tags = ["think", "thinking", "thought"] as const;
/** Blanks before a first tag; what begins with more is an answer. */
const mostBlanks = 1_000;
const longestTag = "</thinking>".length;

/**
 * Takes what a model thinks out of its text as it streams in: `<think>…</think>` at the beginning, as servers pass it on
 * that do not know a model's template. Tags further on are words of the answer.
 */
export class TaggedThoughts {
  #held = "";
  /** Tag that ends the thought which has begun. */
  #closing: string | undefined;
  #isOver = false;

  take(piece: string): Taken {
    if (this.#isOver) return { text: piece, thought: "" };
    this.#held += piece;
    return this.#closing === undefined ? this.#takeStart() : this.#takeThought(this.#closing);
  }

  /** Gives out what was held back. A thought without an end hides all that follows. */
  end(): Taken {
    const held = this.#held;
    this.#held = "";
    return this.#closing === undefined ? { text: held, thought: "" } : { text: "", thought: held };
  }

  #takeStart(): Taken {
    const start = this.#held.trimStart().toLowerCase();
    const tag = tags.find((name) => start.startsWith(`<${name}>`));
    if (tag !== undefined) {
      this.#closing = `</${tag}>`;
      this.#held = this.#held.trimStart().slice(tag.length + 2);
      return this.#takeThought(this.#closing);
    }
    const mayCome = this.#held.length < mostBlanks && tags.some((name) => `<${name}>`.startsWith(start));
    if (mayCome) return { text: "", thought: "" };
    this.#isOver = true;
    return this.end();
  }

  #takeThought(closing: string): Taken {
    const at = this.#held.toLowerCase().indexOf(closing);
    if (at === -1) {
      const kept = this.#held.slice(-longestTag);
      const thought = this.#held.slice(0, this.#held.length - kept.length);
      this.#held = kept;
      return { text: "", thought };
    }
    const thought = this.#held.slice(0, at);
    this.#held = this.#held.slice(at + closing.length);
    this.#closing = undefined;
    const rest = this.#takeStart();
    return { text: rest.text, thought: thought + rest.thought };
  }
}

/** Text without a thought of which a server has sent only the closing tag, at the end of a line. */
export function withoutUnopenedThought(text: string): string {
  const closing = /<\/(?:think|thinking|thought)>[ \t]{0,8}(?:\n|$)/i.exec(text);
  if (!closing) return text;
  const before = text.slice(0, closing.index);
  const isUnopened = !before.endsWith("`") && !/<(?:think|thinking|thought)>/i.test(before);
  return isUnopened ? text.slice(closing.index + closing[0].length).trimStart() : text;
}
