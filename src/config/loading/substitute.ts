import type { EnvironmentVariables } from "../environment.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";

/** A configuration with its variables filled in, and where a value came wholly from one. */
export interface Substitution {
  readonly value: unknown;
  readonly faults: readonly ConfigFault[];
  /** Paths, as `formatPath` writes them, of values that are nothing but one variable. */
  readonly fromVariable: ReadonlySet<string>;
}

/**
 * Replaces `${NAME}` in text values (never in keys) after YAML was parsed, so a value cannot add keys; `$${` stands for
 * `${`.
 */
export function substitute(input: unknown, variables: EnvironmentVariables): Substitution {
  const faults: ConfigFault[] = [];
  const fromVariable = new Set<string>();
  const replaceText = (text: string, path: readonly PropertyKey[]): string => {
    if (/^\$\{[^}]*\}$/.test(text)) fromVariable.add(formatPath(path));
    return text.replaceAll(/\$\$\{|\$\{([^}]*)\}/g, (whole, name: string | undefined) => {
      if (name === undefined) return "${";
      const problem = variableProblem(name, variables);
      if (problem !== undefined) faults.push({ path: formatPath(path), detail: problem });
      return variables[name] ?? whole;
    });
  };
  const replace = (value: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof value === "string") return replaceText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => replace(item, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    // Where keys are free, such as names of groups, the schema would leave this one out without a word.
    if (Object.hasOwn(value, "__proto__"))
      faults.push({ path: formatPath([...path, "__proto__"]), detail: "unknown key" });
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item, [...path, key])]));
  };
  return { value: replace(input, []), faults, fromVariable };
}

function variableProblem(name: string, variables: EnvironmentVariables): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return `"\${${name}}" is not the name of an environment variable; write $\${ for \${`;
  return variables[name] ? undefined : `the environment variable ${name} is not set`;
}
