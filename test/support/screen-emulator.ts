/**
 * Emulates a terminal's screen: text, line breaks and the prompt's control sequences. Throws for any other sequence.
 * Each character takes one column.
 */
export class ScreenEmulator {
  readonly #columns: number;
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.#columns = columns;
  }

  write(text: string): void {
    for (const [whole, , step = "", letter] of text.matchAll(/(\p{Cc})\[([0-9;?]*)([A-Za-z])|[^]/gu)) {
      if (letter !== undefined) this.#steer(step, letter);
      else if (whole === "\n") this.#moveTo(this.#row + 1, 0);
      else if (whole === "\r") this.#column = 0;
      else if (/\p{Cc}/u.test(whole)) throw new Error(`The terminal was steered by ${JSON.stringify(whole)}.`);
      else this.#put(whole);
    }
  }

  /** The rows, without blanks at their ends and empty ones at the end. */
  lines(): string[] {
    const lines = this.#rows.map((row) => row.join("").trimEnd());
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
  }

  #put(character: string): void {
    // As real ones do: a full row is left only by the next character.
    if (this.#column === this.#columns) this.#moveTo(this.#row + 1, 0);
    const row = this.#rows[this.#row] ?? [];
    while (row.length < this.#column) row.push(" ");
    row[this.#column] = character;
    this.#column += 1;
  }

  #moveTo(row: number, column: number): void {
    this.#row = Math.max(0, row);
    this.#column = column;
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }

  #steer(step: string, letter: string): void {
    if (letter === "J" || letter === "K") return this.#wipe(step + letter);
    const count = Number(step === "" ? 1 : step);
    const here = Math.min(this.#column, this.#columns - 1);
    const steps: Readonly<Record<string, readonly [row: number, column: number]>> = {
      A: [this.#row - count, here],
      B: [this.#row + count, here],
      C: [this.#row, Math.min(this.#columns - 1, here + count)],
      D: [this.#row, Math.max(0, here - count)],
      G: [this.#row, count - 1],
      m: [this.#row, this.#column],
    };
    const to = steps[letter];
    if (!to) throw new Error(`The terminal was steered by ${step}${letter}.`);
    this.#moveTo(...to);
  }

  #wipe(what: string): void {
    if (!["J", "0J", "K", "0K"].includes(what)) throw new Error(`The terminal was wiped by ${what}.`);
    if (what.endsWith("J")) this.#rows.splice(this.#row + 1);
    this.#rows[this.#row]?.splice(this.#column);
  }
}
