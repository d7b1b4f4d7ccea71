import * as z from "zod";

import { parseDestination } from "../../domain/sandbox/egress.ts";
import { visible } from "../../lib/text/visible.ts";

/** Kinds of things that a package can add. */
export const pluginKinds = ["tool", "channel", "provider"] as const;

export type PluginKind = (typeof pluginKinds)[number];

/** Kinds that the design knows and that nothing here can take up yet. */
const laterKinds: ReadonlySet<string> = new Set(["transcriber", "search"]);

export const manifestFile = "package.json";

/** A plugin's `package.json`. */
export interface Manifest {
  /** The package's own name, without its scope: what it is called in the home, in commands and in `config.yaml`. */
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  readonly description: string;
  readonly kinds: readonly PluginKind[];
  /** The only hosts that it can reach, as `host:port`. */
  readonly hosts: readonly string[];
  /** Packages that it needs at run time, with the versions that it takes. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** The module with its definitions, as a path below its folder. */
  readonly entry: string;
}

export type ManifestReading =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: string };

const kind = z.string().max(64);
const target = z.union([z.string(), z.record(z.string(), z.unknown())]);

const packageJson = z.object({
  name: z.string().max(214),
  version: z.string().max(64).default("0.0.0"),
  description: z.string().max(500).default(""),
  main: z.string().max(200).optional(),
  exports: target.optional(),
  dependencies: z.record(z.string().max(214), z.string().max(200)).default({}),
  crabpot: z.strictObject({
    kind: z.union([kind, z.array(kind).min(1).max(3)]),
    hosts: z.array(z.string().max(253)).max(50).default([]),
  }),
});

const wantedName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** A registry version or range; paths, addresses and repositories are refused. */
const registryVersion = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?[\w.^~*<>=|+ -]*$/;

/** Reads `package.json`. What is wrong with it is the end of a sentence that begins with its name. */
export function parseManifest(text: string): ManifestReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: "is no JSON" };
  }
  if (typeof value === "object" && value !== null && !("crabpot" in value))
    return { ok: false, reason: 'has no "crabpot": { "kind": … }, so the package is no plugin' };
  const parsed = packageJson.safeParse(value);
  if (!parsed.success) return { ok: false, reason: describe(parsed.error) };
  const reason = faultOf(parsed.data);
  return reason === undefined ? { ok: true, manifest: toManifest(parsed.data) } : { ok: false, reason };
}

type Package = z.output<typeof packageJson>;

function describe({ issues }: z.ZodError): string {
  const [issue] = issues;
  return `is not valid: ${visible(issue?.path.join(".") ?? "")}: ${visible(issue?.message ?? "")}`;
}

function faultOf(found: Package): string | undefined {
  const unknown = kindsOf(found).find((each) => !(pluginKinds as readonly string[]).includes(each));
  if (unknown !== undefined) return kindFault(unknown);
  if (!wantedName.test(nameOf(found)))
    return `gives the name ${JSON.stringify(found.name)}; behind a scope there may be lower case letters, digits, - and _, at most 64`;
  const elsewhere = Object.entries(found.dependencies).find(([, wanted]) => !registryVersion.test(wanted));
  if (elsewhere)
    return `wants ${visible(elsewhere.join("@"))}, which is no version of a registry; a plugin's packages come from the registry alone`;
  const host = found.crabpot.hosts.find((each) => destinationOf(each) === undefined);
  if (host !== undefined) return `names the host ${JSON.stringify(host)}; ${howToNameHosts}`;
  if (nameOf(found) === "isolation") return 'gives the name "isolation", which is a setting in config.yaml';
  const entry = entryOf(found);
  if (!isInside(entry)) return `names ${JSON.stringify(entry)} as its module, which lies outside of it`;
  return undefined;
}

function kindFault(wanted: string): string {
  if (laterKinds.has(wanted)) return `is a ${wanted}: this crabpot has no place for that kind of plugin yet`;
  return `has the kind ${JSON.stringify(wanted)}; there are ${pluginKinds.join(", ")}`;
}

function kindsOf({ crabpot }: Package): readonly string[] {
  return typeof crabpot.kind === "string" ? [crabpot.kind] : crabpot.kind;
}

function nameOf({ name }: Package): string {
  return name.replace(/^@[^/]+\//, "");
}

function toManifest(found: Package): Manifest {
  return {
    name: nameOf(found),
    packageName: found.name,
    version: visible(found.version),
    description: visible(found.description),
    kinds: [...new Set(kindsOf(found))] as PluginKind[],
    hosts: [...new Set(found.crabpot.hosts.flatMap((each) => destinationOf(each) ?? []))],
    dependencies: found.dependencies,
    entry: entryOf(found),
  };
}

/** Entry file, as Node resolves an `import` of the package. */
function entryOf({ exports: exported, main }: Package): string {
  return plain(targetOf(exported) ?? main ?? "index.js");
}

const usualPort = 443;
const howToNameHosts = "write a name in lower case, such as api.example, with a port if it is not 443; no address";

/** Returns it as `host:port`; undefined for what is none. */
function destinationOf(host: string): string | undefined {
  return [host, `${host}:${usualPort}`].find((each) => parseDestination(each) !== undefined);
}

const conditions = ["import", "node", "default"];

function targetOf(exported: unknown): string | undefined {
  if (typeof exported === "string" || typeof exported !== "object" || exported === null)
    return typeof exported === "string" ? exported : undefined;
  const entries = exported as Readonly<Record<string, unknown>>;
  if ("." in entries) return targetOf(entries["."]);
  return conditions.map((each) => targetOf(entries[each])).find((each) => each !== undefined);
}

function plain(path: string): string {
  return path.replace(/^\.\//, "");
}

function isInside(path: string): boolean {
  return (
    path !== "" &&
    path.length <= 200 &&
    !path.startsWith("/") &&
    !path.includes("\\") &&
    !path.split("/").includes("..")
  );
}
