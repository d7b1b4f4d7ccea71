import type { Logger } from "pino";
import { pino } from "pino";
import { prettyFactory } from "pino-pretty";

import { AppError, toError } from "../app-error.ts";
import { CappedFile } from "../files/capped-file.ts";
import { escapeJson, visible, visibleLines } from "../text/visible.ts";

/** The host's log is two files of at most this size. */
const maxFileBytes = 10 * 1024 * 1024;

export interface LoggerOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  /** Output for people: stderr. */
  readonly output: { write(text: string): unknown };
  /** `pretty`: for eyes, with colours. `json`: one object per line. */
  readonly format: "pretty" | "json";
  /** Also written there as JSON lines, with one rotation (`<file>.1`); its folder must exist. */
  readonly file?: string | undefined;
  /** Takes secrets out of a line. */
  readonly redact: (text: string) => string;
}

/**
 * The host's logger. Values under keys such as `apiKey`, `token` or `authorization`, and what `redact` takes out, never
 * reach the log, whatever they are part of; an error is logged with message, code and stack only, because vendors'
 * errors carry requests with headers. Control and bidi characters are escaped, so that a chat cannot forge lines or
 * steer a terminal.
 */
export function createLogger(options: LoggerOptions): Logger {
  const file = options.file === undefined ? undefined : new CappedFile(options.file, maxFileBytes);
  const toPretty = prettyFactory({
    colorize: true,
    translateTime: "SYS:HH:MM:ss",
    ignore: "pid,hostname",
    singleLine: true,
  });
  const write = (raw: string): void => {
    const line = escapeJson(options.redact(raw.trimEnd()));
    file?.append(line);
    options.output.write(options.format === "json" ? `${line}\n` : toPretty(makeVisible(JSON.parse(line))));
  };
  return pino(
    {
      level: options.level,
      base: null,
      serializers: { err: describeError, error: describeError },
      formatters: {
        log: (fields) => censor(fields, 0) as Record<string, unknown>,
        level: (label) => ({ level: label }),
      },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write },
  );
}

const secretKey = /^(x-)?(api[-_]?key|.*token|authorization|proxy-authorization|password|secret|cookie|set-cookie)$/i;
/** Counts of tokens are numbers, not secrets. */
const maxDepth = 6;

function censor(value: unknown, depth: number): unknown {
  if (value instanceof Error) return describeError(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) return "…";
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => censor(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      secretKey.test(key) && typeof item === "string" ? "[redacted]" : censor(item, depth + 1),
    ]),
  );
}

interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly fix?: string | undefined;
  readonly stack?: string | undefined;
  readonly cause?: unknown;
}

function describeError(thrown: unknown, depth = 0): ErrorDescription {
  if (isDescription(thrown)) return thrown;
  const error = toError(thrown);
  const code: unknown = "code" in error ? error.code : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    ...(error instanceof AppError && error.fix !== undefined ? { fix: error.fix } : {}),
    stack: error.stack,
    ...(error.cause === undefined || depth > maxDepth ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}

/** The serializer runs after the formatter, which has already described errors. */
function isDescription(value: unknown): value is ErrorDescription {
  return (
    typeof value === "object" && value !== null && !(value instanceof Error) && "type" in value && "message" in value
  );
}

/**
 * Before it is shown to eyes, what JSON had escaped is escaped in a form that survives; only a stack keeps its lines.
 */
function makeVisible(value: unknown, key = ""): unknown {
  if (typeof value === "string") return key === "stack" ? visibleLines(value) : visible(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => makeVisible(item));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [visible(name), makeVisible(item, name)]));
}
