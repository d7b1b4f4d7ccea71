import type { InjectedSecret } from "../../../domain/sandbox/egress.ts";
import { pathMatches } from "../../../domain/sandbox/request-path.ts";

/** With these, some servers read another method or path than the request line has. */
const overrides = new Set([
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);

/** A request as it came: the target with its query, names and values of headers in turns. */
export interface BoundRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
}

/** True when the secret is for this request. A secret bound to methods or paths is never for an ambiguous request. */
export function isFor({ methods, paths }: InjectedSecret, { method, target, rawHeaders }: BoundRequest): boolean {
  if (methods === undefined && paths === undefined) return true;
  // Underscores become hyphens, or the other way round, on the way to many programs.
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase().replaceAll("_", "-"));
  if (names.some((name) => overrides.has(name))) return false;
  const [path = ""] = target.split("?", 1);
  const isMethod = methods?.includes(method) ?? true;
  return isMethod && (paths?.some((pattern) => pathMatches(path, pattern)) ?? true);
}
