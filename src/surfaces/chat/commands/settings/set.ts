import type { SettingChange } from "../../../../domain/settings/setting.ts";
import { AppError, isPassing } from "../../../../lib/app-error.ts";
import { plainSentence, quotedName } from "../../../../lib/text/plain-words.ts";
import type { ChatCommand } from "../../command.ts";

/** Changes a setting of a group. */
export const set: ChatCommand = {
  name: "set",
  help: "change a setting of a group, for example: /set family trigger always",
  takes: "GROUP KEY VALUE",
  needs: "admin",
  inMainGroups: true,
  run: async ({ pending }, { settings }) => {
    const [, group, key, value] = /^(\S+)\s+(\S+)\s+(.+)$/.exec(pending.argument ?? "") ?? [];
    if (group === undefined || key === undefined || value === undefined)
      return { text: "Use /set GROUP KEY VALUE. /settings GROUP lists the settings." };
    try {
      const changes = await settings.change({ group, key, value, by: pending.message.sender.id });
      if (changes.length === 0) return { text: `${key} of ${group} is already set to that.` };
      return { text: changes.map(describeChange).join("\n") };
    } catch (error) {
      if (!(error instanceof AppError) || isPassing(error)) throw error;
      return { text: [plainSentence(error.message), error.fix].filter(Boolean).join(" ") };
    }
  },
};

const holds: Readonly<Record<SettingChange["applies"], string>> = {
  now: "In effect from the next message on.",
  container: "In effect with the group's next container, from its next turn on.",
  restart: "In effect after a restart of the host.",
};

/** Describes a change and when it takes effect, in a line. */
export function describeChange({ path, from, to, applies }: SettingChange): string {
  const [before, after] = [from, to].map((value) => (value === undefined ? "not set" : quotedName(showValue(value))));
  return `${path}: ${before} → ${after}. ${holds[applies]}`;
}

/** A value in a line of a chat. */
export function showValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
