/** HTTP status and exit code of each error code. */
const table = {
  usage: { http: 400, exit: 2 },
  bad_input: { http: 400, exit: 2 },
  unauthorized: { http: 401, exit: 1 },
  not_found: { http: 404, exit: 1 },
  conflict: { http: 409, exit: 1 },
  expired: { http: 410, exit: 1 },
  gone: { http: 410, exit: 1 },
  too_large: { http: 413, exit: 1 },
  rate_limited: { http: 429, exit: 1 },
  intake_stopped: { http: 503, exit: 1 },
  config_invalid: { http: 500, exit: 2 },
  setup_required: { http: 503, exit: 3 },
  no_host: { http: 503, exit: 4 },
  host_running: { http: 409, exit: 1 },
  skill_refused: { http: 403, exit: 1 },
  plugin_refused: { http: 403, exit: 1 },
  address_refused: { http: 403, exit: 1 },
  server_refused: { http: 403, exit: 1 },
  mount_denied: { http: 403, exit: 1 },
  engine_unavailable: { http: 503, exit: 3 },
  engine_refused: { http: 500, exit: 1 },
  image_missing: { http: 503, exit: 3 },
  attestation_failed: { http: 500, exit: 1 },
  container_lost: { http: 500, exit: 1 },
  model_unavailable: { http: 502, exit: 1 },
  model_refused: { http: 502, exit: 1 },
  budget_exhausted: { http: 429, exit: 1 },
  context_too_large: { http: 413, exit: 1 },
  turn_timeout: { http: 504, exit: 1 },
  cancelled: { http: 409, exit: 1 },
  fenced: { http: 409, exit: 1 },
  store_failed: { http: 503, exit: 1 },
  audit_broken: { http: 500, exit: 1 },
} as const satisfies Record<string, { http: number; exit: number }>;

export type ErrorCode = keyof typeof table;

/** Is this one of the codes? For codes that come from another process. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(table, code);
}

/**
 * The one error class: a promise that could not be kept. `code` is from a closed list; the message is a full sentence
 * that says what failed, with which value, and what to do; `fix` is a command or edit that mends it, where one exists.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly fix: string | undefined;
  /** It may be over by itself: the same thing done again later may work. */
  readonly passing: boolean;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; fix?: string; passing?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.fix = options.fix;
    this.passing = options.passing ?? false;
  }

  get httpStatus(): number {
    return table[this.code].http;
  }

  get exitCode(): number {
    return table[this.code].exit;
  }
}

const passingSystemErrors: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE"]);

/**
 * Is this the trouble of a machine that may mend itself (a full disk, a store that somebody holds), or was it caused by
 * one?
 */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AppError && error.passing) return true;
  return ("code" in error && passingSystemErrors.has(error.code)) || isPassing(error.cause);
}

/** Coerces whatever was thrown into an Error, once, at the edge. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The code of the system's error, such as `ENOENT`, or of an AppError; empty for anything else. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** For `catch`: a file or folder that is missing is undefined, every other failure stays one. */
export function nothingIfMissing(error: unknown): undefined {
  if (errorCode(error) === "ENOENT") return undefined;
  throw error;
}
