import type { SettingChange } from "../../domain/settings/setting.ts";
import { quotedName } from "../../lib/text/plain-words.ts";

/** Settings in a chat: a line each. */
export function describeSettings(
  settings: readonly { readonly path: string; readonly value: unknown; readonly from: string }[],
): string {
  return settings.map(({ path, value, from }) => `${path}: ${showValue(value)} (${from})`).join("\n");
}

/** Changes of a group in a chat, a line each; undefined when nothing has changed. */
export function describeGroupChanges(
  report: { readonly changes: readonly SettingChange[] } | { readonly file: string },
  group: string,
): string | undefined {
  const own = `groups.${group}`;
  const all = "changes" in report ? report.changes : [];
  const changes = all.filter(({ path }) => path === own || path.startsWith(`${own}.`));
  return changes.length === 0 ? undefined : changes.map(describeChange).join("\n");
}

const holds: Readonly<Record<SettingChange["applies"], string>> = {
  now: "In effect from the next message on.",
  container: "In effect with the group's next container, from its next turn on.",
  restart: "In effect after a restart of the host.",
};

/** Describes a change and when it takes effect, in a line. */
function describeChange({ path, from, to, applies }: SettingChange): string {
  const [before, after] = [from, to].map((value) => (value === undefined ? "not set" : quotedName(showValue(value))));
  return `${path}: ${before} → ${after}. ${holds[applies]}`;
}

function showValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
