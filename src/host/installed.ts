import { readFile } from "node:fs/promises";
import { join } from "node:path";

import * as z from "zod";

import type { NewEvent } from "../domain/events/event.ts";
import { nothingIfMissing, toError } from "../lib/app-error.ts";
import { writeWhole } from "../lib/files/guarded-change.ts";
import { readMcpLock } from "../abilities/mcp/packages/lock-file.ts";
import { readPluginLock } from "../plugins/install/lock-file.ts";
import { readSkillLock } from "../abilities/skills/lock-file.ts";
import type { AppContext } from "./context.ts";

type Context = Pick<AppContext, "home" | "publish" | "logger">;

const facts = z.strictObject({
  sha256: z.string(),
  version: z.string().optional(),
  package: z.string().optional(),
  integrity: z.string().optional(),
});
const notes = z.record(z.enum(["plugin", "skill", "mcp"]), z.record(z.string(), facts));

type Kind = keyof z.output<typeof notes>;
type Facts = z.output<typeof facts>;
type Found = Readonly<Record<string, Facts>>;

/** The look that was asked for last, by home: one after another, so that nothing is told twice. */
const looks = new Map<string, Promise<void>>();

/**
 * Puts on record what was installed or removed since the host looked last: also what the operator did while no host
 * ran, which nobody else could tell. Never rejects. Killed before it has noted what it told, it tells that again.
 */
export function noteInstalled(context: Context): Promise<void> {
  const { root } = context.home.paths;
  const look = (looks.get(root) ?? Promise.resolve()).then(() =>
    noteNow(context).catch((error: unknown) => {
      context.logger.error({ err: toError(error) }, "what is installed could not be put on record");
    }),
  );
  looks.set(root, look);
  return look;
}

async function noteNow(context: Context): Promise<void> {
  const { paths } = context.home;
  const file = join(paths.root, "installed.json");
  const text = await readFile(file, "utf8").catch(nothingIfMissing);
  const before = notes.safeParse(text === undefined ? {} : JSON.parse(text)).data ?? emptyNotes;
  const now = { plugin: await plugins(context), skill: await skills(context), mcp: await packages(context) };
  const kinds = ["plugin", "skill", "mcp"] as const;
  let isChanged = false;
  for (const kind of kinds) {
    const found = now[kind] ?? before[kind] ?? {};
    now[kind] = found;
    if (await tell(context, kind, before[kind] ?? {}, found)) isChanged = true;
  }
  if (isChanged) await writeWhole(file, `${JSON.stringify(now)}\n`);
}

const emptyNotes: Partial<Record<Kind, Found>> = {};

async function tell({ publish }: Context, kind: Kind, before: Found, now: Found): Promise<boolean> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  const changed = names.filter((name) => ofName(before, name)?.sha256 !== ofName(now, name)?.sha256);
  for (const name of changed)
    await publish(eventOf({ kind, name, old: ofName(before, name), found: ofName(now, name) }));
  return changed.length > 0;
}

function eventOf({
  kind,
  name,
  old,
  found,
}: {
  readonly kind: Kind;
  readonly name: string;
  readonly old: Facts | undefined;
  readonly found: Facts | undefined;
}): NewEvent<"mcp.installed" | "installed.changed"> {
  if (!found)
    return {
      type: "installed.changed",
      actor: "host",
      data: { kind, name, change: "removed", version: old?.version, sha256: old?.sha256 ?? "" },
    };
  const { version, sha256, integrity, package: named = "" } = found;
  if (kind === "mcp") {
    const data = { server: name, package: named, version: version ?? "", integrity, sha256 };
    return { type: "mcp.installed", actor: "host", data };
  }
  const data = { kind, name, change: old ? "changed" : "added", version, sha256 };
  return { type: "installed.changed", actor: "host", data };
}

function ofName(found: Found, name: string): Facts | undefined {
  return Object.hasOwn(found, name) ? found[name] : undefined;
}

/** Undefined: it cannot be read, which others say. */
async function readable(look: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await look();
  } catch {
    return undefined;
  }
}

function plugins({ home: { paths } }: Context): Promise<Found | undefined> {
  return readable(async () => {
    const { plugins: all } = await readPluginLock(paths.pluginLock);
    return mapped(all, ({ sha256, version }) => ({ sha256, version }));
  });
}

function skills({ home: { paths } }: Context): Promise<Found | undefined> {
  return readable(async () => mapped((await readSkillLock(paths.skillLock)).skills, ({ sha256 }) => ({ sha256 })));
}

function packages({ home: { paths } }: Context): Promise<Found | undefined> {
  return readable(async () => {
    const { servers } = await readMcpLock(paths.mcpLock);
    const installed = Object.entries(servers).flatMap(([name, { package: one }]) =>
      one ? [[name, one] as const] : [],
    );
    return mapped(Object.fromEntries(installed), ({ sha256, version, package: named, integrity }) => ({
      sha256,
      version,
      package: named,
      ...(integrity !== undefined && { integrity }),
    }));
  });
}

function mapped<Entry>(all: Readonly<Record<string, Entry>>, toFacts: (entry: Entry) => Facts): Found {
  return Object.fromEntries(Object.entries(all).map(([name, entry]) => [name, toFacts(entry)]));
}
