import type { SetAside } from "../stores/store.ts";
import type { ChatCommand } from "./command.ts";

/** Ends the running turns of the group and drops what waits there. */
export const stop: ChatCommand = {
  name: "stop",
  help: "ends what I am working on, and drops what waits",
  for: "members",
  run: async () => ({ stops: true, text: wording }),
};

function wording({ turns, waiting }: SetAside): string {
  const dropped =
    waiting.length > 0
      ? ` ${waiting.length} waiting ${waiting.length === 1 ? "message was" : "messages were"} dropped.`
      : "";
  const stopped = turns.length > 0 ? "Stopping." : waiting.length > 0 ? "Stopped." : "There is nothing to stop.";
  return stopped + dropped;
}
