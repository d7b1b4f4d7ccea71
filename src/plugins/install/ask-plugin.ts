import { AppError, toError } from "../../lib/app-error.ts";
import { type Described, describedPlugin } from "../format/described.ts";
import type { StartPluginBody } from "../process/isolation.ts";
import { type PluginProcessOptions, startPlugin } from "../process/plugin-process.ts";

const askMs = 60_000;
const memoryMb = 192;

export interface AskPluginOptions {
  readonly name: string;
  readonly folder: string;
  readonly entry: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly start: StartPluginBody;
  readonly logger: PluginProcessOptions["logger"];
}

/**
 * Loads a plugin as confined as it will run, and lets it say what it provides. Throws `plugin_refused`, and what
 * starting it rejects with.
 */
export async function askPlugin({
  name,
  folder,
  entry,
  variables,
  start,
  logger,
}: AskPluginOptions): Promise<readonly Described[]> {
  const launch = await start({ plugin: name, folder, entry, memoryMb, variables }, AbortSignal.timeout(askMs));
  await using process = startPlugin({
    plugin: name,
    launch,
    memoryMb,
    logger,
    answer: refuse,
    hear: () => undefined,
  });
  let said: unknown;
  try {
    said = await process.line.call("describe", null, { signal: AbortSignal.timeout(askMs) });
  } catch (cause) {
    throw new AppError("plugin_refused", `The plugin ${name} is refused: ${toError(cause).message}.`, { cause });
  }
  const parsed = describedPlugin.safeParse(said);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError(
    "plugin_refused",
    `The plugin ${name} is refused: what it says of itself is not valid: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}.`,
  );
}

async function refuse(): Promise<never> {
  throw new Error("it is only being looked at");
}
