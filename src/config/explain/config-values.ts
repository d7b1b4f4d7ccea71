import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import type { Document, Node } from "yaml";

import type { Adapters } from "../adapters.ts";
import { configFromEnvironment } from "../loading/defaults.ts";
import type { EnvironmentVariables } from "../environment.ts";
import { formatPath } from "../faults.ts";
import type { LoadedConfig } from "../loading/load.ts";
import { secretsOf } from "../loading/secrets.ts";
import { createMask } from "./mask.ts";

/** A value that the host works with, and where it comes from: `config.yaml:12`, `environment`, `default`. */
export interface ConfigValue {
  readonly path: string;
  readonly value: unknown;
  readonly from: string;
}

type Path = readonly (string | number)[];

/** Every value of a configuration, secrets masked. `text`: what the file holds; undefined when there is none. */
export function configValues(
  { config, adapters }: Pick<LoadedConfig, "config" | "adapters">,
  text: string | undefined,
  variables: EnvironmentVariables,
): ConfigValue[] {
  const originOf = text === undefined ? originsInEnvironment(variables, adapters) : originsInFile(text);
  const mask = createMask(secretsOf(config, adapters));
  return leavesOf(config, []).map(({ path, value }) => {
    const name = formatPath(path);
    return { path: name, value: mask(name, value), from: originOf(path) ?? "default" };
  });
}

/** Leaves of a configuration: texts, numbers, lists of such, and empty sections. */
function leavesOf(value: unknown, path: Path): { readonly path: Path; readonly value: unknown }[] {
  const isList = Array.isArray(value);
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [{ path, value }];
  if (isList && !value.some((item) => typeof item === "object")) return [{ path, value }];
  const entries = Object.entries(value);
  if (entries.length === 0) return [{ path, value }];
  return entries.flatMap(([key, item]) => leavesOf(item, [...path, isList ? Number(key) : key]));
}

/** Source of a value; undefined for a default. */
type OriginOf = (path: Path) => string | undefined;

function originsInFile(text: string): OriginOf {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return (path) => {
    const node = nodeAt(document, path);
    if (node?.range === undefined || node.range === null) return undefined;
    const [variable] = isScalar(node) && typeof node.value === "string" ? variablesIn(node.value) : [];
    const place = `config.yaml:${lines.linePos(node.range[0]).line}`;
    return variable === undefined ? place : `${place}, environment ${variable}`;
  };
}

function originsInEnvironment(variables: EnvironmentVariables, adapters: Adapters): OriginOf {
  const taken: unknown = configFromEnvironment(variables, adapters).value;
  const [first] = variablesIn(JSON.stringify(taken));
  return (path) => {
    const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], taken);
    if (value === undefined) return undefined;
    const [own] = typeof value === "string" ? variablesIn(value) : [];
    return `environment ${own ?? first ?? ""}`.trimEnd();
  };
}

/** Follows aliases, which stand for what they name. */
function nodeAt(document: Document, path: Path): Node | undefined {
  const resolve = (node: unknown): Node | undefined =>
    isAlias(node) ? resolve(node.resolve(document)) : ((node ?? undefined) as Node | undefined);
  let at = resolve(document.contents);
  for (const key of path) {
    if (!isMap(at) && !isSeq(at)) return undefined;
    at = resolve(at.get(key, true));
  }
  return at;
}

function variablesIn(text: string): string[] {
  return [...text.matchAll(/(?<!\$)\$\{([^}]*)\}/g)].flatMap(([, name]) => name ?? []);
}
