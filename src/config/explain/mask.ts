import type { Adapters } from "../adapters.ts";
import { formatPath } from "../faults.ts";
import { secretsOf } from "../loading/secrets.ts";
import type { Config } from "../schema/config.ts";

const masked = "***";
/** A shorter one may stand in other values by chance. */
const tellingChars = 8;

/** Hides secrets in a value by the path that it stands at: text, or a list of texts. */
export function createMask(secrets: ReturnType<typeof secretsOf>): (path: string, value: unknown) => unknown {
  return (path, value) => {
    if (Array.isArray(value)) return value.map((item: unknown) => (typeof item === "string" ? hide(path, item) : item));
    return typeof value === "string" ? hide(path, value) : value;
  };
  function hide(path: string, text: string): string {
    const own = secrets.filter((secret) => path === secret.path || path === `${secret.path}.value`);
    // Written in another form than the one that is looked for: none of it is shown.
    if (own.some(({ value }) => !text.includes(value))) return masked;
    const known = secrets.filter((secret) => own.includes(secret) || secret.value.length >= tellingChars);
    return known.reduce((shown, { value }) => shown.replaceAll(value, masked), text);
  }
}

/** A configuration to be shown: the same but for its secrets. */
export function maskedConfig(config: Config, adapters: Adapters): unknown {
  const mask = createMask(secretsOf(config, adapters));
  const copy = (value: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof value !== "object" || value === null) return mask(formatPath(path), value);
    if (Array.isArray(value)) return value.map((item, index) => copy(item, [...path, index]));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item, [...path, key])]));
  };
  return copy(config, []);
}
