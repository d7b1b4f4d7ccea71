import type * as z from "zod";

import { parseToolInput, ToolError } from "../../../src/protocol/tools.ts";
import type { AllowedRun, FilePart } from "../../../src/protocol/messages.ts";
import type { ToolFacts, ToolOutput } from "../../../src/protocol/tools.ts";
import type { Browser } from "../browser/browser.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { ResultFiles } from "../result-files.ts";
import type { PersistentShell } from "../shell/persistent-shell.ts";
import type { ToolOutputFolder } from "../tool-output-folder.ts";
import type { PathBase } from "./paths.ts";

/** Environment of a container's tools. */
export interface ToolEnvironment {
  /** The session's one bash, which keeps its working directory and environment. */
  readonly shell: PersistentShell;
  /** Background commands. */
  readonly jobs: Jobs;
  readonly browser: Pick<Browser, "ask" | "close">;
  /** Takes outputs that are too long for a result. */
  readonly outputs: ToolOutputFolder;
  /** Base of relative paths from the model. */
  readonly paths: PathBase;
  /** Takes what a result refers to. */
  readonly files: Pick<ResultFiles, "add">;
  /** Environment of programs that a tool starts. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The result of a call in the container: text, and what comes behind it. */
export interface ContainerToolOutput extends ToolOutput {
  readonly parts?: FilePart[] | undefined;
}

/** Aborted when the turn is cancelled or the tool has run out of time; a tool then ends soon, whatever it returns. */
export interface CallEnvironment extends ToolEnvironment {
  readonly signal: AbortSignal;
  /** People have allowed it: how it runs, if it is a command. */
  readonly approved?: AllowedRun | undefined;
  /** Takes live output of the call; omitted when nobody watches. */
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
  /** Program that the group's image must have for the tool to be offered. */
  readonly requires?: "browser" | undefined;
  /** Origin of its results besides the group. */
  readonly origin?: "web" | undefined;
  /** Throws ToolError for input that does not fit, and what the tool throws. */
  run(input: unknown, place: CallEnvironment): Promise<string | ContainerToolOutput>;
}

/** Definition by a tool's author. `run` gets valid input, and throws ToolError with words for the model. */
interface ContainerToolDefinition<Schema extends z.ZodObject> extends ToolFacts<Schema> {
  readonly readsOnly: boolean;
  readonly requires?: "browser";
  readonly origin?: "web";
  run(input: z.infer<Schema>, place: CallEnvironment): Promise<string | ContainerToolOutput>;
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

/** True for errors meant for the model: a tool's own, and the system's about a file or a program. */
export function isForModel(error: Error): boolean {
  return error instanceof ToolError || ("syscall" in error && "code" in error);
}
