import { shorten } from "../../../lib/text/visible.ts";
import { plainSentence } from "../../../lib/text/plain-words.ts";
import type { ChatCommand } from "../command.ts";

const shown = 40;
const shownChars = 200;

/** Says what the group's agent can read up on; `$name` in a message means one. */
export const skills: ChatCommand = {
  name: "skills",
  help: "skills that I have here",
  needs: "member",
  run: async ({ group }, { skillsOf }) => {
    const all = await skillsOf(group);
    if (all.length === 0) return { text: "I have no skills here." };
    const lines = all
      .slice(0, shown)
      .map(({ name, description }) => `$${name}: ${shorten(plainSentence(description), shownChars)}`);
    const more = all.length > shown ? [`${all.length - shown} more.`] : [];
    return { text: [...lines, ...more].join("\n") };
  },
};
