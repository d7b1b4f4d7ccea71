import { proto } from "@whiskeysockets/baileys";

import type { MemberChange } from "./administration.ts";
import type { Chat, Extras } from "./compose.ts";
import { fileOf } from "./content.ts";
import type { Faults } from "./faults.ts";
import { receiptOf } from "./intake.ts";
import type { Person, PersonFacts } from "./person.ts";
import type { WhatsAppServer } from "./server.ts";
import { freshId, stanza } from "./stanza.ts";
import type { Addressing } from "./stanza.ts";
import type { InboxEntry, SeenReceipt, SeenTyping, Send } from "./world.ts";

/** Something that somebody says. `chat` is the id of a group or the name of a person. */
export interface Utterance {
  readonly from: string;
  readonly chat: string;
  readonly text: string;
  readonly extras: Extras;
  readonly id?: string | undefined;
  /** Milliseconds since 1970; now unless told. */
  readonly sentAt?: number | undefined;
  readonly withoutKey?: boolean | undefined;
}

/** Observations about clients. */
export interface Observations {
  readonly sends: readonly Send[];
  readonly receipts: readonly SeenReceipt[];
  readonly typing: readonly SeenTyping[];
  /** Stanzas that an account's clients have not acknowledged yet, by kind and id. */
  readonly pending: Readonly<Record<string, readonly string[]>>;
  /** Accounts that have a client which is logged in at present. */
  readonly online: readonly string[];
  readonly connections: number;
  /** The accounts of clients that have logged in, one entry for each time. */
  readonly logins: readonly string[];
  /** Phone numbers whose LIDs clients have asked for, one entry for each query. */
  readonly lookUps: readonly (readonly string[])[];
}

/** All that can be asked from the server from outside; each is a POST with JSON on its control port. */
export interface Operations {
  scan(input: { qr: string; account: string }): Promise<{ device: number }>;
  enterPairingCode(input: { code: string; account: string }): Promise<{ device: number }>;
  link(input: { account: string }): Promise<{ credentials: string }>;
  addUser(input: PersonFacts): Promise<object>;
  addGroup(input: {
    subject: string;
    addressing: Addressing;
    members: readonly string[];
    oneName?: boolean | undefined;
  }): Promise<{ id: string }>;
  changeMembers(input: {
    group: string;
    actor: string;
    change: MemberChange;
    people: readonly string[];
  }): Promise<object>;
  changeSubject(input: { group: string; actor: string; subject: string }): Promise<object>;
  members(input: { group: string }): Promise<{ subject: string; members: Record<string, string> }>;
  say(input: Utterance): Promise<{ id: string }>;
  repeat(input: { id: string }): Promise<object>;
  type(input: { from: string; chat: string; state: "composing" | "paused" }): Promise<object>;
  receipt(input: { from: string; id: string; group: string; kind: "delivered" | "read" }): Promise<object>;
  askAgain(input: { from: string; id: string; group: string }): Promise<object>;
  history(input: { account: string; chat: string; texts: readonly string[] }): Promise<object>;
  forgeHistory(input: { from: string; account: string; text: string }): Promise<object>;
  fault(input: Partial<Faults>): Promise<object>;
  cut(input: { account: string }): Promise<object>;
  endStream(input: { account: string; code?: number | undefined; conflict?: string | undefined }): Promise<object>;
  unlink(input: { account: string }): Promise<object>;
  dropFile(input: { id: string }): Promise<object>;
  observe(input: object): Promise<Observations>;
  inbox(input: { user: string }): Promise<InboxEntry[]>;
  file(input: { id: string }): Promise<{ base64: string }>;
  trace(input: object): Promise<string[]>;
}

/** The operations of a server in this process. */
export function operationsOf(server: WhatsAppServer): Operations {
  return {
    ...membershipOf(server),
    ...speechOf(server),
    ...troublesOf(server),
    ...viewOf(server),
  };
}

type Part<Name extends keyof Operations> = Pick<Operations, Name>;

function membershipOf({
  world,
  pairing,
  administration,
}: WhatsAppServer): Part<
  "scan" | "enterPairingCode" | "link" | "addUser" | "addGroup" | "changeMembers" | "changeSubject" | "members"
> {
  return {
    scan: async ({ qr, account }) => ({ device: (await pairing.scan(qr, world.named(account))).device }),
    enterPairingCode: async ({ code, account }) => {
      return { device: (await pairing.enterCode(code, world.named(account))).device };
    },
    link: async ({ account }) => ({ credentials: pairing.link(world.named(account)) }),
    addUser: async (facts) => {
      world.addPerson(facts);
      return {};
    },
    addGroup: async ({ subject, addressing, members: [owner, ...others], oneName = false }) => {
      const people = others.map((name) => world.named(name));
      const group = administration.create(subject, addressing, [world.named(owner ?? ""), ...people], oneName);
      return { id: group.id };
    },
    changeMembers: async ({ group, actor, change, people }) => {
      const concerned = people.map((name) => world.named(name));
      administration.change(world.group(group), world.named(actor), change, concerned);
      return {};
    },
    changeSubject: async ({ group, actor, subject }) => {
      administration.changeSubject(world.group(group), world.named(actor), subject);
      return {};
    },
    members: async ({ group: id }) => {
      const group = world.group(id);
      const members = Object.fromEntries([...group.roles].map(([{ name }, role]) => [name, role]));
      return { subject: group.subject, members };
    },
  };
}

function speechOf(
  server: WhatsAppServer,
): Part<"say" | "repeat" | "type" | "receipt" | "askAgain" | "history" | "forgeHistory"> {
  const { world, delivery, composer } = server;
  const chatOf = (name: string): Chat => world.groups.get(name) ?? world.named(name);
  return {
    say: async ({ from, chat: chatName, text, extras, id = freshId(), sentAt, withoutKey }) => {
      const speaker = world.named(from);
      const chat = chatOf(chatName);
      const encoded = await composer.compose(speaker, chat, text, extras);
      const seconds = sentAt === undefined ? undefined : String(Math.floor(sentAt / 1000));
      const speech = { id, encoded, sentAt: seconds, withoutKey };
      if ("roles" in chat) await delivery.sayInGroup(speaker, chat, speech);
      else await delivery.sayTo(speaker, chat, speech);
      return { id };
    },
    repeat: async ({ id }) => {
      delivery.repeat(id);
      return {};
    },
    type: async ({ from, chat: chatName, state }) => {
      const speaker = world.named(from);
      const chat = chatOf(chatName);
      const people = "roles" in chat ? chat.members : [chat];
      const place = "roles" in chat ? { from: chat.id, participant: speaker.jid("lid") } : { from: speaker.jid("lid") };
      for (const companion of people.flatMap(({ companions }) => [...companions.values()])) {
        delivery.push(companion, stanza("chatstate", place, [stanza(state)]));
      }
      return {};
    },
    receipt: async ({ from, id, group, kind }) => {
      const sender = world.senders.get(id);
      const type = kind === "read" ? "read" : undefined;
      if (sender) delivery.push(sender, receiptOf(world.named(from), id, world.group(group), type));
      return {};
    },
    askAgain: async ({ from, id, group }) => {
      const sender = world.senders.get(id);
      if (sender) delivery.askAgain(sender, world.named(from), id, { group: world.group(group), count: 1 });
      return {};
    },
    history: async ({ account, chat, texts }) => {
      await delivery.sendHistory(world.named(account), historyOf(chatOf(chat), texts));
      return {};
    },
    forgeHistory: async ({ from, account, text }) => {
      const history = historyOf(world.named(account), [text]);
      await delivery.sendForgedHistory(world.named(from), world.named(account), history);
      return {};
    },
  };
}

function historyOf(chat: Chat, texts: readonly string[]): proto.IHistorySync {
  const remoteJid = "roles" in chat ? chat.id : chat.jid("lid");
  const participant = "roles" in chat ? chat.owner.jid(chat.addressing) : chat.jid("lid");
  const messages = texts.map((text, index) => ({
    message: {
      key: { remoteJid, fromMe: false, id: freshId(), participant },
      message: { conversation: text },
      messageTimestamp: Math.floor(Date.now() / 1000) - 3600 + index,
    },
  }));
  return proto.HistorySync.fromObject({
    syncType: proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP,
    conversations: [{ id: remoteJid, messages }],
    progress: 100,
    chunkOrder: 1,
  });
}

function troublesOf(server: WhatsAppServer): Part<"fault" | "cut" | "endStream" | "unlink" | "dropFile"> {
  const { world } = server;
  const clientsOf = (account: string): Person["companions"] => world.named(account).companions;
  return {
    fault: async (faults) => {
      Object.assign(world.faults, faults);
      return {};
    },
    cut: async ({ account }) => {
      for (const { connection } of clientsOf(account).values()) connection?.cut();
      return {};
    },
    endStream: async ({ account, code, conflict }) => {
      for (const { connection } of clientsOf(account).values()) {
        if (connection) server.endStream(connection, code, conflict);
      }
      return {};
    },
    unlink: async ({ account }) => {
      for (const companion of clientsOf(account).values()) server.unlink(companion);
      return {};
    },
    dropFile: async ({ id }) => {
      const spoken = world.spoken.get(id);
      const file = spoken && fileOf(proto.Message.decode(spoken.encoded));
      if (file?.message.directPath) server.media.drop(file.message.directPath);
      return {};
    },
  };
}

function viewOf(server: WhatsAppServer): Part<"observe" | "inbox" | "file" | "trace"> {
  const { world, intake, media } = server;
  return {
    observe: async () => {
      const companions = world.people.flatMap((person) => [...person.companions.values()]);
      const pending = companions.map(({ person, pending: waiting }) => [person.name, [...waiting.keys()]] as const);
      const online = companions.filter(({ connection }) => connection).map(({ person }) => person.name);
      const { sends, receipts, typing, logins, lookUps } = world;
      const connections = server.connections.length;
      return { sends, receipts, typing, pending: Object.fromEntries(pending), online, connections, logins, lookUps };
    },
    inbox: async ({ user }) => world.inbox(world.named(user)),
    file: async ({ id }) => {
      const file = intake.files.get(id);
      if (!file) throw new Error(`the message ${id} has no file`);
      const { directPath, mediaKey, fileSha256 } = file.message;
      if (!directPath || !mediaKey || !fileSha256) throw new Error(`the file of ${id} is not complete`);
      return { base64: (await media.load(file.type, { directPath, mediaKey, fileSha256 })).toString("base64") };
    },
    trace: async () => world.trace,
  };
}
