import { defineChannel } from "../define-channel.ts";
import { whatsAppSettings } from "./settings.ts";
import { workerVariables } from "./worker-variables.ts";

/** WhatsApp, with an account of its own. */
export const whatsapp = defineChannel({
  name: "whatsapp",
  config: whatsAppSettings,
  traits: { reactions: true, edits: true, onboards: true },
  variables: workerVariables,
  remarks: ({ webSocketUrl }) =>
    webSocketUrl === undefined
      ? []
      : [`channels.whatsapp.webSocketUrl is set: the channel talks to ${webSocketUrl}, not to WhatsApp`],
  open: async (settings, ports) => {
    const { WhatsAppConnector } = await import("./connector.ts");
    return new WhatsAppConnector({ ...ports, assistantName: () => ports.assistantName, settings });
  },
});
