import type * as z from "zod";

import { parseToolInput, ToolError } from "../../../src/protocol/tools.ts";
import type { FilePart } from "../../../src/protocol/messages.ts";
import type { ToolFacts, ToolOutput } from "../../../src/protocol/tools.ts";
import type { Browser } from "../browser/browser.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { ResultFiles } from "../result-files.ts";
import type { PersistentShell } from "../shell/persistent-shell.ts";
import type { ToolOutputFolder } from "../tool-output-folder.ts";
import type { PathBase } from "./paths.ts";

/** What the tools of a container work with. */
export interface ContainerPlace {
  /** The session's one bash, which keeps its working directory and environment. */
  readonly shell: PersistentShell;
  /** What runs in the background. */
  readonly jobs: Jobs;
  readonly browser: Pick<Browser, "ask" | "close">;
  /** Takes outputs that are too long for a result. */
  readonly outputs: ToolOutputFolder;
  /** Where the paths that the model gives begin. */
  readonly paths: PathBase;
  /** Takes what a result refers to. */
  readonly files: Pick<ResultFiles, "add">;
  /** Of programs that a tool starts. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The result of a call in the container: text, and what comes behind it. */
export interface ContainerToolOutput extends ToolOutput {
  readonly parts?: FilePart[] | undefined;
}

/** Aborted when the turn is cancelled or the tool has run out of time; a tool then ends soon, whatever it returns. */
export interface CallPlace extends ContainerPlace {
  readonly signal: AbortSignal;
  /** Takes what the call prints while it runs; left out: nobody wants to see it. */
  readonly show?: ((chunk: Uint8Array) => void) | undefined;
}

/**
 * A tool that runs in the container. The host reads everything but `run`, and offers it to the model; the agent runs
 * it. Importing one must do nothing.
 */
export interface ContainerTool extends ToolFacts {
  readonly runs: "container";
  /** Changes nothing, so that calls next to each other may run at the same time. */
  readonly readsOnly: boolean;
  /** What must be in the group's image for it to be offered. */
  readonly requires?: "browser" | undefined;
  /** Whose words its results are, where they are not only the group's. */
  readonly origin?: "web" | undefined;
  /** Throws ToolError for input that does not fit, and what the tool throws. */
  run(input: unknown, place: CallPlace): Promise<string | ContainerToolOutput>;
}

/** What the author of a tool writes. `run` gets input that fits, and throws ToolError with words for the model. */
interface ContainerToolDefinition<Schema extends z.ZodObject> extends ToolFacts<Schema> {
  readonly readsOnly: boolean;
  readonly requires?: "browser";
  readonly origin?: "web";
  run(input: z.infer<Schema>, place: CallPlace): Promise<string | ContainerToolOutput>;
}

export function defineContainerTool<Schema extends z.ZodObject>(
  definition: ContainerToolDefinition<Schema>,
): ContainerTool {
  const { risk } = definition;
  return {
    ...definition,
    runs: "container",
    risk: typeof risk === "string" ? risk : (input) => risk(input as z.infer<Schema>),
    run: async (input, place) => definition.run(parseToolInput(definition, input), place),
  };
}

/**
 * What the tools here throw that is for the model: their own words, and what the system says of a file or a program.
 */
export function isForModel(error: Error): boolean {
  return error instanceof ToolError || ("syscall" in error && "code" in error);
}
