import { defineAbility } from "../define-ability.ts";
import { mediaConfig } from "./config.ts";
import type { MediaNeeds } from "./media-service.ts";
import { sendVoice } from "./speech/send-voice.ts";

/** Shows agents pictures, hears voice messages, and says agents' words aloud. */
export const media = defineAbility<MediaNeeds>()({
  name: "media",
  config: mediaConfig,
  tools: [sendVoice],
  start: async (needs, settings) => {
    const { MediaService } = await import("./media-service.ts");
    return new MediaService(needs, () => settings().media);
  },
  portFor: (service, { group, session, turn, settings: { speaks } }, signal) =>
    speaks ? service.portFor({ group: group.name, session: session.id, turn: turn.id }, signal) : undefined,
});
