import { stringify } from "yaml";

import type { Adapters } from "../adapters.ts";
import { configFromEnvironment } from "../loading/defaults.ts";
import type { EnvironmentVariables } from "../environment.ts";
import { configJsonSchema } from "../schema/json-schema.ts";
import { configSchema } from "../schema/config.ts";

/** Used parts of a setting's JSON Schema. */
interface Setting {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Setting>>;
}

type Values = Readonly<Record<string, unknown>>;

/** Longer lines have their explanation above them. */
const lineChars = 110;

const head = `## The configuration of crabpot. What is commented out stands here with its default.
## To change it, remove "# " from its line and from those of the section around it. Lines with ## explain.
## "crabpot config check" says whether the file can be used; a running host notices changes by itself.
`;

/**
 * A `config.yaml` to begin with, made of the schema: every setting with its default and what it is for. What the host
 * would take from the environment without a file is written into it, as the environment counts for nothing where there
 * is one.
 */
export function configTemplate(adapters: Adapters, variables: EnvironmentVariables): string {
  const schema = configJsonSchema(adapters) as Setting;
  const defaults: Values = configSchema(adapters).parse({});
  const written = configFromEnvironment(variables, adapters).value as Values;
  const sections = Object.entries(schema.properties ?? {}).map(([name, setting]) => {
    const said = setting.description === undefined ? [] : [`## ${setting.description}`];
    const lines = render(name, { ...setting, description: undefined }, { defaults, written, indent: "" });
    return `\n${[...said, ...lines].join("\n")}\n`;
  });
  return head + sections.join("");
}

interface Place {
  readonly defaults: Values;
  /** Active settings of the template; others are commented out. */
  readonly written: Values;
  readonly indent: string;
}

function render(
  name: string,
  setting: Omit<Setting, "description"> & { readonly description?: string | undefined },
  place: Place,
): string[] {
  const { defaults, written, indent } = place;
  const value = written[name] ?? defaults[name];
  const mark = Object.hasOwn(written, name) ? "" : "# ";
  const examples = (setting.examples ?? []).map((example) => `##${indent}   such as ${name}: ${flow(example)}`);
  if (value === undefined) {
    const keys = Object.keys(setting.properties ?? {});
    const may = keys.length > 0 ? `It may have: ${keys.join(", ")}.` : "";
    const words = [`${name} is not set.`, setting.description ?? "", may].filter((said) => said !== "");
    return [`##${indent} ${words.join(" ")}`, ...examples];
  }
  const { properties } = setting;
  if (properties === undefined || Object.keys(valuesOf(value)).every((key) => !Object.hasOwn(properties, key))) {
    return [
      ...line(`${indent}${name}: ${flow(value)}`, setting.description, mark),
      ...examples,
      ...unset(setting, place),
    ];
  }
  const inner = { defaults: valuesOf(defaults[name]), written: valuesOf(written[name]), indent: `${indent}  ` };
  const below = Object.entries(properties).flatMap(([key, each]) => render(key, each, inner));
  return [...line(`${indent}${name}:`, setting.description, mark), ...examples, ...below];
}

/** Placeholder of an empty section. */
function unset({ properties = {} }: Omit<Setting, "description">, { indent }: Place): string[] {
  const place = { defaults: {}, written: {}, indent: `${indent}  ` };
  return Object.entries(properties).flatMap(([key, each]) => render(key, each, place));
}

function line(text: string, said: string | undefined, mark: string): string[] {
  if (said === undefined) return [mark + text];
  const indent = /^ */.exec(text)?.[0] ?? "";
  const whole = `${mark}${text} # ${said}`;
  return whole.length <= lineChars ? [whole] : [`##${indent} ${said}`, mark + text];
}

function flow(value: unknown): string {
  return stringify(value, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: true }).trim();
}

function valuesOf(value: unknown): Values {
  return typeof value === "object" && value !== null ? (value as Values) : {};
}
