import { memberKey } from "../../../domain/people/person.ts";
import { isAtLeast } from "../../../domain/people/role.ts";
import type { StoredMessage } from "../../../domain/chats/message.ts";
import type { Job } from "../../../domain/work/job.ts";
import { plainSentence } from "../../../lib/text/plain-words.ts";
import { shorten } from "../../../lib/text/visible.ts";
import type { SetAside } from "../../../stores/contract/store.ts";
import { agentsAddressed } from "../agents-addressed.ts";
import type { ChatCommand, CommandOutcome } from "../command.ts";
import { describeDropped, describeSetAside } from "../set-aside.ts";

const shownChars = 80;
const refusal = "Only the person who asked, or an admin, can stop what I am working on.";

/** Ends the running turns of the group and drops what waits there; a member's own, unless it is an admin. */
export const stop: ChatCommand = {
  name: "stop",
  help: "stop my work for you and drop waiting messages",
  needs: "guest",
  perAgent: true,
  run: async (given, services) => {
    const { group, pending, asker, agentName } = given;
    const { message } = pending;
    const { roles, jobsOf } = services;
    const addressed = await agentsAddressed(given, services);
    if (typeof addressed === "string") return { text: addressed };
    const goesOn = describeJobs(jobsOf(group));
    const remark = goesOn === "" ? "" : `Still running in the background; stop with /jobs stop ID:\n${goesOn}`;
    const describe = (ended: SetAside): string =>
      [describeSetAside(ended, message.sender, agentName) || "There is nothing to stop.", remark]
        .filter((line) => line !== "")
        .join("\n");
    if (isAtLeast(asker.role, "admin")) return { stops: true, choose: addressed.choose, text: describe };
    const own = new Set(roles.keysOf({ channel: message.channel, id: message.sender.id }));
    const isOwn = ({ channel, sender }: StoredMessage): boolean => own.has(memberKey({ channel, id: sender.id }));
    return {
      stops: true,
      choose: (found) => choose(addressed.choose(found), isOwn),
      text: (ended, found) => {
        if (ended.turns.length > 0 || addressed.choose(found).turns.length === 0) return describe(ended);
        const { waiting } = ended;
        return waiting.length === 0 ? refusal : `${refusal} ${describeDropped(waiting, agentName)}`;
      },
    } satisfies CommandOutcome;
  },
};

/** A line for each; empty where none runs. */
function describeJobs(running: readonly Job[]): string {
  return running.map(({ id, command }) => `${id}: ${plainSentence(shorten(command, shownChars))}`).join("\n");
}

/**
 * Selects turns in which the asker asked, with all that waits for them; for others, only their own waiting messages.
 */
function choose({ turns, waiting }: SetAside, isOwn: (message: StoredMessage) => boolean): SetAside {
  const asked = turns.filter(({ messages }) => messages.some(isOwn));
  return { turns: asked, waiting: asked.length > 0 ? waiting : waiting.filter(isOwn), work: [] };
}
