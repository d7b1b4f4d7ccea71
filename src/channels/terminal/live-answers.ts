import type { Delta } from "../../domain/chats/delta.ts";
import { cutToColumns } from "../../lib/text/columns.ts";
import { formatText } from "./line.ts";

/** Shown length of a growing answer's end; no terminal is higher. */
const shownChars = 4_000;
/** Shown length of a program's last output line. */
const outputChars = 1_000;
/** Maximum turns shown at once. */
const most = 8;
const cutMark = "…";

/** A turn that is watched. */
interface LiveTurn {
  readonly name: string;
  answer: string;
  isCut: boolean;
  /** Current activity, and the last line printed by the running program. */
  doing: string;
  output: string;
}

/** Available space. */
export interface LiveRoom {
  readonly columns: number;
  readonly rows: number;
}

/** Live turns as lines above the prompt, until the message comes. Control characters are made visible. */
export class LiveAnswers {
  readonly #turns = new Map<string, LiveTurn>();
  readonly #nameOf: (delta: Delta) => string;

  constructor(nameOf: (delta: Delta) => string) {
    this.#nameOf = nameOf;
  }

  add(delta: Delta): void {
    if (delta.type === "over") return void this.#turns.delete(delta.turn);
    const turn = this.#turns.get(delta.turn) ?? this.#begin(delta);
    if (delta.type === "answer") {
      // Tools have ended, or what was said before them is.
      Object.assign(turn, { doing: "", output: "" });
      turn.isCut ||= turn.answer.length + delta.text.length > shownChars;
      turn.answer = (turn.answer + delta.text).slice(-shownChars);
    } else if (delta.type === "reset") Object.assign(turn, { answer: "", isCut: false, doing: "", output: "" });
    else if (delta.type === "doing") Object.assign(turn, { doing: delta.text, output: "" });
    else turn.output = (turn.output + delta.text).slice(-outputChars);
  }

  /** Returns the newest lines that fit. */
  lines({ columns, rows }: LiveRoom): readonly string[] {
    const all = [...this.#turns.values()].flatMap((turn) => linesOf(turn, columns));
    if (all.length <= rows) return all;
    return rows < 1 ? [] : [cutMark, ...all.slice(all.length - rows + 1)];
  }

  #begin(delta: Delta): LiveTurn {
    const begun: LiveTurn = { name: this.#nameOf(delta), answer: "", isCut: false, doing: "", output: "" };
    this.#turns.set(delta.turn, begun);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > most && oldest !== undefined) this.#turns.delete(oldest);
    return begun;
  }
}

function linesOf({ name, answer, isCut, doing, output }: LiveTurn, columns: number): readonly string[] {
  const said = answer.trim() === "" ? [] : [`${name}: ${isCut ? cutMark : ""}${answer.trimEnd()}`];
  const last =
    output
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? "";
  const done =
    doing === ""
      ? []
      : [cutToColumns(formatText(`  ${doing}${last === "" ? "" : `: ${last}`}`.replaceAll(/\s/g, " ")), columns - 1)];
  return [...said.flatMap((text) => formatText(text, { columns: columns - 1, taken: 0 }).split("\n")), ...done];
}
