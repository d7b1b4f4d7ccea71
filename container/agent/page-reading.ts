import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import type { GivenPage, ReaderOutput, ReaderTask } from "../../src/protocol/pages.ts";
import { filesFolder } from "../../src/protocol/paths.ts";
import type { ToolOutputFolder } from "./tool-output-folder.ts";
import { toError } from "./to-error.ts";

/** Pages are hostile: what one may take to be read is bounded, and the agent goes on meanwhile. */
const readerMs = 20_000;
const mostReaderMb = 384;
const leastReaderMb = 64;
const maxPrintedBytes = 48 * 1024 * 1024;
const titleChars = 300;

export interface PageReaderOptions {
  /** Folder of the host's messages. */
  readonly toAgent: string;
  /** The program that reads. */
  readonly reader: string;
  /** Takes what is too long for a result. */
  readonly outputs: Pick<ToolOutputFolder, "create">;
}

/** Reads a page in a separate process and returns the text for the model, also about failures. Never rejects. */
export type ReadPage = (page: GivenPage, signal: AbortSignal) => Promise<string>;

/** A function that reads pages which the host has put into `toAgent`. */
export function createReadPage({ toAgent, reader, outputs }: PageReaderOptions): ReadPage {
  return async ({ file, maxChars, ...how }, signal) => {
    const path = join(toAgent, filesFolder, file);
    try {
      return describe(await runReader(reader, { ...how, path }, signal), { maxChars, outputs });
    } catch (error) {
      return `[The page could not be read (${reasonOf(error)}). Its bytes are in ${path}; format raw shows them as they are.]`;
    }
  };
}

async function runReader(reader: string, task: ReaderTask, signal: AbortSignal): Promise<ReaderOutput> {
  const parameters = [`--max-old-space-size=${readerMb()}`, reader, JSON.stringify(task)];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, {
    timeout: readerMs,
    killSignal: "SIGKILL",
    maxBuffer: maxPrintedBytes,
    env: {},
    encoding: "utf8",
    signal,
  });
  return JSON.parse(stdout) as ReaderOutput;
}

/** A part of what the container has, so that a page which takes too much ends its reader and nothing else. */
function readerMb(): number {
  const mb = process.constrainedMemory() / (1024 * 1024);
  return Math.round(Math.min(mostReaderMb, Math.max(leastReaderMb, mb * 0.4)));
}

function describe(
  { title, text, charset, hidden, isCut }: ReaderOutput,
  { maxChars, outputs }: { readonly maxChars: number } & Pick<PageReaderOptions, "outputs">,
): string {
  const isWhole = text.length <= maxChars;
  const notes = [
    ...(title === "" ? [] : [`Title: ${JSON.stringify(title.slice(0, titleChars).toWellFormed())}`]),
    ...(charset === "utf-8" ? [] : [`Character set: ${charset}`]),
    ...(hidden === 0 ? [] : [`[${hidden} characters that the page does not show were left out]`]),
    ...(isCut ? ["[The page is too large to be read whole: the end of it was left out]"] : []),
  ];
  const shown = isWhole ? text : text.slice(0, maxChars).toWellFormed();
  const rest = isWhole ? [] : [`[cut after ${maxChars} of ${text.length} characters: ${keep(text, outputs)}]`];
  return [...notes, "", shown === "" ? "[There is no text in it.]" : shown, ...rest].join("\n");
}

function keep(text: string, outputs: Pick<ToolOutputFolder, "create">): string {
  const file = outputs.create();
  file.write(Buffer.from(text));
  return file.close();
}

function reasonOf(error: unknown): string {
  const { killed, name } = error as { readonly killed?: boolean; readonly name?: string };
  if (name === "AbortError") return "cancelled";
  if (killed === true) return `it took longer than ${readerMs / 1_000} s, or was too long`;
  const [, line = ""] = /^(?:\w*Error|FATAL ERROR): (.{1,200})/m.exec(toError(error).message) ?? [];
  return line === "" ? "the reader failed" : line.slice(0, 200);
}
