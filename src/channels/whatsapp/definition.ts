import { defineChannel } from "../define-channel.ts";
import { numberOfPerson, personFault, personOfNumber } from "./person-id.ts";
import { whatsAppSettings } from "./settings.ts";
import { workerVariables } from "./process/worker-variables.ts";
import { ownCommand } from "../../lib/process/own-command.ts";

const chatId = /^\d+(?:-\d+)?@(?:g\.us|lid|s\.whatsapp\.net)$/;

/** WhatsApp, with a linked account for the agent. */
export const whatsapp = defineChannel({
  name: "whatsapp",
  config: whatsAppSettings,
  traits: {
    reactions: true,
    voice: true,
    hearsReactions: true,
    edits: true,
    quotes: true,
    onboards: true,
    aliases: true,
  },
  variables: workerVariables,
  remarks: ({ webSocketUrl }) =>
    webSocketUrl === undefined
      ? []
      : [`channels.whatsapp.webSocketUrl is set: the channel talks to ${webSocketUrl}, not to WhatsApp`],
  judgeChat: (id) =>
    chatId.test(id)
      ? undefined
      : `is not the id of a chat, which \`${ownCommand("chats")}\` shows: 1203630…@g.us for a group, …@lid or …@s.whatsapp.net for a person`,
  judgeSender: personFault,
  canonicalId: personOfNumber,
  writtenId: numberOfPerson,
  open: async (settings, ports) => {
    const { WhatsAppConnector } = await import("./connection/connector.ts");
    return new WhatsAppConnector({ ...ports, assistantName: () => ports.assistantName, settings });
  },
});
