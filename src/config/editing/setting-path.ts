import type { SettingPath } from "../../domain/settings/setting.ts";
import { AppError } from "../../lib/app-error.ts";

/** A step of a path: a plain key, `[0]`, or `["any text"]`. */
const step = /\.?([\w-]+)|\[(\d{1,4})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/**
 * Reads a path as `formatPath` writes it: `models.routes.main[0]`, `models.capabilities["local/qwen3"].vision`. Throws
 * `usage`.
 */
export function parsePath(text: string): SettingPath {
  const path: (string | number)[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < text.length) {
    const start = step.lastIndex;
    const found = step.exec(text);
    const isSeparated = found?.[1] === undefined || start > 0 === text.startsWith(".", start);
    if (!found || !isSeparated) throw notAPath(text);
    const [, key, index, quoted] = found;
    if (index === undefined) path.push(key ?? unquote(quoted ?? "", text));
    else path.push(Number(index));
  }
  if (typeof path[0] !== "string" || path.includes("__proto__")) throw notAPath(text);
  return path;
}

function unquote(quoted: string, whole: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch (cause) {
    throw notAPath(whole, cause);
  }
}

function notAPath(text: string, cause?: unknown): AppError {
  return new AppError("usage", `"${text}" is not the path of a setting.`, {
    cause,
    fix: 'Write keys with dots between them, such as groups.family.policy or models.routes.main[0]; a key with other characters as ["local/qwen3"].',
  });
}
