import type { Logger } from "pino";

import type { ProcessBody } from "../../processes/body.ts";
import type { Launch } from "../../processes/launch.ts";
import type { Answers, CallContext, Listeners } from "../../processes/line.ts";
import { LoggedOutput } from "../../processes/logged-output.ts";
import { OwnProcess, type ProcessLimits } from "../../processes/own-process.ts";
import { plugin as protocol } from "../../processes/protocol.ts";
import { pluginFailures } from "./failures.ts";

export interface PluginLimits extends ProcessLimits {
  /** Lines of what it prints that are logged in a minute; the others are counted. */
  readonly linesPerMinute: number;
}

export const pluginLimits: PluginLimits = {
  startMs: 60_000,
  beatMs: 5_000,
  silenceMs: 60_000,
  endMs: 2_000,
  messageBytes: 8 * 1024 * 1024,
  messagesPerSecond: 2_000,
  servedCalls: 64,
  openCalls: 10_000,
  waitingBytes: 256 * 1024 * 1024,
  linesPerMinute: 30,
};

const weighingMs = 5_000;

/** A process in which a plugin's code runs. */
export type PluginProcess = OwnProcess<typeof protocol>;

/** Answers what a plugin asks on behalf of one of its channels. */
export type ChannelAnswers = Omit<Answers<typeof protocol.host>, "send">;

/** Hears what a plugin tells about a connection. */
export type Heard = Omit<Listeners<typeof protocol.host>, "delta" | "usage">;

export interface PluginProcessOptions {
  readonly plugin: string;
  readonly launch: Launch | ProcessBody;
  readonly memoryMb: number;
  /** Answers what it asks; the value is checked. */
  readonly answer: (name: string, value: object, context: CallContext) => Promise<unknown>;
  /** Hears what it tells about a connection. */
  readonly hear: (name: string, value: unknown, of: number) => unknown;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  readonly limits?: PluginLimits | undefined;
}

/**
 * Starts the process of a plugin, or talks to the one in its container. What it prints is logged, shortened and only so
 * much of it.
 */
export function startPlugin(options: PluginProcessOptions): PluginProcess {
  const { plugin, launch, memoryMb, answer, hear, logger, limits = pluginLimits } = options;
  return new OwnProcess({
    name: `the process of the plugin ${plugin}`,
    launch,
    protocol,
    answers: mapped(
      protocol.host.calls,
      (name) => (value: object, context: CallContext) => answer(name, value, context),
    ) as Answers<typeof protocol.host>,
    listeners: mapped(protocol.host.news, (name) => (value: unknown, of: number) => hear(name, value, of)) as Listeners<
      typeof protocol.host
    >,
    // The limit of a container is the kernel's.
    limits: {
      ...limits,
      ...("main" in launch && { memory: { mb: memoryMb, counts: "RssAnon", everyMs: weighingMs } }),
    },
    failures: pluginFailures,
    output: new LoggedOutput({
      logger,
      about: { plugin },
      said: "a plugin said",
      dropped: "a plugin says too much; its other lines are dropped",
      linesPerMinute: limits.linesPerMinute,
    }),
  });
}

function mapped(names: object, handler: (name: string) => unknown): object {
  return Object.fromEntries(Object.keys(names).map((name) => [name, handler(name)]));
}
