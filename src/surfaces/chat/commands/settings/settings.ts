import { AppError, isPassing } from "../../../../lib/app-error.ts";
import { plainSentence } from "../../../../lib/text/plain-words.ts";
import type { ChatCommand } from "../../command.ts";
import { showValue } from "./set.ts";

/** Shows every setting of a group, without secrets. */
export const settings: ChatCommand = {
  name: "settings",
  help: "settings of a group",
  takes: "GROUP",
  needs: "admin",
  inMainGroups: true,
  run: async ({ group, pending: { argument = "" } }, services) => {
    try {
      const found = await services.settings.show(argument === "" ? group.name : argument);
      return { text: found.map(({ path, value, from }) => `${path}: ${showValue(value)} (${from})`).join("\n") };
    } catch (error) {
      if (!(error instanceof AppError) || isPassing(error)) throw error;
      return { text: plainSentence(error.message) };
    }
  },
};
