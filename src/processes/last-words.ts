import type { Readable } from "node:stream";

import { shorten, visible } from "../lib/text/visible.ts";
import type { ProcessOutput } from "./own-process.ts";

const keptChars = 8_192;
const toldChars = 300;
/** Shorter values of variables stand in many texts by chance. */
const secretChars = 6;

/** Words of Node and V8 for an end; anything else is a stack, or earlier output. */
const wordsOfAnEnd = /^(?:FATAL ERROR|[A-Za-z]*Error(?: \[\w+\])?|\S*node): ./;
/** V8's last message: fixed words, none from the program. */
const wordsOfV8 = /^FATAL ERROR: [\w :.,()'-]+$/;

/** The end of what a process prints, to say why it died without passing on what it knew. */
export class LastWords implements ProcessOutput {
  readonly #variables: readonly string[];
  #tail = "";
  /** The process holds keys from here on, and its library prints them. */
  holdsKeys = false;

  /** `variables`: values that must not be told. */
  constructor(variables: readonly string[]) {
    this.#variables = variables.filter((value) => value.length >= secretChars);
  }

  take(stream: Readable, kind: "stdout" | "stderr"): void {
    stream.on("data", (chunk: Buffer) => {
      if (kind === "stderr") this.hear(chunk);
    });
  }

  hear(chunk: Buffer): void {
    this.#tail = (this.#tail + chunk.toString("utf8")).slice(-keptChars);
  }

  /** In one line of at most 300 characters; undefined where there is nothing that may be told. */
  tell(): string | undefined {
    const lines = this.#tail.split(/\r?\n/).map((line) => line.trim());
    const said = this.holdsKeys
      ? lines.findLast((line) => wordsOfV8.test(line))
      : (lines.findLast((line) => wordsOfAnEnd.test(line)) ?? lines.findLast((line) => line !== ""));
    return said === undefined || said === "" ? undefined : shorten(visible(this.#withoutVariables(said)), toldChars);
  }

  end(): void {
    this.#tail = "";
  }

  #withoutVariables(text: string): string {
    return this.#variables.reduce((rest, value) => rest.replaceAll(value, "…"), text);
  }
}
