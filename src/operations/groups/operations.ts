import * as z from "zod";

import type { Group, GroupChat, GroupFolder } from "../../domain/chats/group.ts";
import { accesses, type Chat, unknownRequest, protections } from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import { type FolderOrigin, type Origin, origins } from "../../domain/people/origin.ts";
import { type Role, roles } from "../../domain/people/role.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import type { Store } from "../../stores/contract/store.ts";
import { findChannel, type OperableChannel } from "../channels/operations.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { showGroupStatus } from "./group-status.ts";
import { flag, list, name, nothing, schemaOf, time } from "../definition/schemas.ts";

/** The parts that look at groups. */
export interface GroupReadingNeeds {
  readonly groups: {
    list(): readonly GroupChat[];
    folders(): Promise<readonly GroupFolder[]>;
    /** The same groups with what is set for them. Throws where that is not known. */
    settings(): readonly Group[];
  };
  readonly people: {
    readonly triggerRole: (group: string) => Role;
    readonly members: (group: string) => GroupView["members"];
  };
  readonly store: {
    readonly chats: { get(channel: string, chat: string): Promise<Chat | undefined> };
    readonly origins: Pick<Store["origins"], "ofFolder">;
  };
}

/** The parts that change them. */
export interface GroupNeeds {
  readonly groups: {
    list(): readonly Group[];
    /** Rejects with `conflict` for groups of the configuration and for names or chats that are taken. */
    add(
      group: GroupChat & Pick<Group, "trigger" | "main" | "model">,
      options: { readonly adopt: boolean },
    ): Promise<Group>;
    /** Rejects with `not_found`. */
    remove(name: string): Promise<GroupChat>;
  };
  readonly store: {
    readonly sessions: Pick<Store["sessions"], "list">;
    readonly origins: Pick<Store["origins"], "ofFolder" | "clearFolder">;
    readonly requests: Pick<Store["requests"], "get">;
  };
  readonly pool: { stop(session: string, reason: string): Promise<boolean> };
  readonly channels: readonly OperableChannel[];
  readonly routes: readonly string[];
  /** True for a configured channel, even one without a console. */
  readonly isConfigured: (channel: string) => boolean;
  /** Returns why the channel cannot have such a chat, as the end of a sentence. */
  readonly chatFault: (channel: string, chat: string) => string | undefined;
  readonly publish: Publish<"origins.cleared">;
}

/** A registered chat with its settings. */
const group = z.strictObject({
  name: z.string(),
  channel: z.string(),
  chat: z.string(),
  trigger: z.enum(["mention", "always"]),
  main: z.boolean(),
  mounts: list(
    z.strictObject({
      source: z.string(),
      target: z.string(),
      access: z.enum(accesses),
      shared: z.boolean(),
      protect: z.union([z.enum(protections), list(z.string())]),
    }),
  ),
  agent: z.string().optional(),
  agents: list(z.string()).optional(),
  acting: z.strictObject({ name: z.string(), folder: z.string().optional() }).optional(),
  model: z.string().optional(),
  budget: z.strictObject({ tokensPerDay: z.number().optional(), usdPerDay: z.number().optional() }),
  origin: z.enum(["config", "store"]),
});

/** A group with its chat's state and its roles. */
export interface GroupView extends Group {
  readonly triggerRole: Role;
  readonly members: { readonly default?: Role | undefined; readonly [key: string]: Role | undefined };
  readonly title: string | undefined;
  readonly left: boolean | undefined;
  readonly instructionsChangedAt: number | undefined;
}

const groupView = schemaOf<GroupView>(
  group.extend({
    triggerRole: z.enum(roles).describe("The least role that may ask its agent"),
    members: z
      .intersection(z.object({ default: z.enum(roles).optional() }), z.record(z.string(), z.enum(roles).optional()))
      .describe("Roles that are given there by id, and to all others"),
    title: z.string().optional().describe("Of its chat"),
    left: z.boolean().optional(),
    instructionsChangedAt: time.optional(),
  }),
);

const folderOrigin = schemaOf<FolderOrigin>(
  z.strictObject({
    origin: z.enum(origins),
    since: time,
    turn: z.string().optional(),
  }),
);

export const listGroups = defineOperation<GroupReadingNeeds>()({
  name: "groups.list",
  summary: "list groups",
  input: nothing,
  output: list(groupView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /groups",
  listAs: "groups",
  offline: true,
  cli: {
    table: [
      { field: "name", title: "group" },
      "channel",
      "chat",
      { title: "title", of: ({ title, left }) => [title, left === true ? "(left)" : undefined].join(" ").trim() },
      { title: "trigger", of: ({ main, trigger }) => (main ? "always (main)" : trigger) },
      "model",
      { title: "mounts", of: ({ mounts }) => mounts.length },
      "instructionsChangedAt",
      { title: "from", of: ({ origin }) => (origin === "config" ? "config.yaml" : "groups add") },
    ],
    none: () => "There are no groups.",
  },
  run: async ({ groups, store, people }) => {
    const folders = new Map((await groups.folders()).map((folder) => [folder.name, folder]));
    return Promise.all(
      groups.settings().map(async (each) => {
        const chat = await store.chats.get(each.channel, each.chat);
        const instructions = folders.get(each.name)?.instructions.values() ?? [];
        const instructionsChangedAt = [...instructions].map(({ changedAt }) => changedAt).toSorted(newestFirst)[0];
        const access = { triggerRole: people.triggerRole(each.name), members: people.members(each.name) };
        return { ...each, ...access, title: chat?.title, left: chat?.left, instructionsChangedAt };
      }),
    );
  },
});

/**
 * Rejects with `conflict` for names or chats that are taken, `not_found` for a channel, `bad_input` for a chat or a
 * model.
 */
export const addGroup = defineOperation<GroupNeeds>()({
  name: "groups.add",
  summary: "add a group; settings that are absent are those for everybody, and mounts are given in config.yaml only",
  input: z
    .strictObject({
      name,
      channel: name.optional().describe("channel of the chat"),
      chat: name.optional().describe(`id of the chat, see \`${ownCommand("chats")}\``),
      code: name.optional().describe("code of the chat's request, instead of its channel and id"),
      trigger: z.enum(["mention", "always"]).default("mention").describe("messages that the agent answers"),
      main: flag.describe("a main group: your own, where no mention is needed"),
      model: name.optional().describe("model route"),
      adopt: flag.describe("take over the folder of this name from another chat"),
    })
    .refine(
      ({ channel, chat, code }) => [channel, chat].every((part) => (part === undefined) === (code !== undefined)),
      {
        message: "Name the chat by channel and chat, or by code only",
        path: ["chat"],
      },
    ),
  output: schemaOf<Group>(group),
  may: { scope: "admin" },
  effect: "change",
  cli: {
    help: "register a chat as a group, with a folder of this name",
    args: ["name"],
    say: (added) => `Added group ${added.name}: chat ${added.chat} on ${added.channel}.`,
  },
  run: async (needs, { name: wanted, trigger, main, model, adopt, ...named }) => {
    const { channel, chat } = await findChat(needs, named);
    if (!needs.isConfigured(channel)) findChannel(needs.channels, channel);
    const fault = needs.chatFault(channel, chat);
    if (fault !== undefined) throw new AppError("bad_input", `"${chat}" ${fault}.`);
    if (model !== undefined && !needs.routes.includes(model)) {
      throw new AppError("bad_input", `There is no route "${model}"; there are: ${needs.routes.join(", ")}.`);
    }
    return needs.groups.add({ name: wanted, channel, chat, trigger, main, model }, { adopt });
  },
});

/** The chat that is meant, also by the code of a request that was denied. */
async function findChat(
  { store }: GroupNeeds,
  {
    channel = "",
    chat = "",
    code,
  }: { readonly channel?: string | undefined; readonly chat?: string | undefined; readonly code?: string | undefined },
): Promise<{ readonly channel: string; readonly chat: string }> {
  if (code === undefined) return { channel, chat };
  const request = await store.requests.get(code.toUpperCase());
  if (request?.kind === "admission") return request;
  throw unknownRequest(code);
}

export const removeGroup = defineOperation<GroupNeeds>()({
  name: "groups.remove",
  summary: "remove a group that was added; its folder stays",
  input: z.strictObject({ name }),
  output: z.strictObject({ removed: z.string() }),
  may: { scope: "admin" },
  effect: "destroy",
  cli: { args: ["name"], say: ({ removed }) => `Removed group ${removed}. Its folder is kept in the home.` },
  run: async ({ groups, store, pool }, { name: removed }) => {
    await groups.remove(removed);
    for (const session of await store.sessions.list()) {
      if (session.group === removed) await pool.stop(session.id, "its group was removed");
    }
    return { removed };
  },
});

export const listFolderOrigins = defineOperation<GroupReadingNeeds>()({
  name: "policy.origins",
  summary: "list origins that a group's folder carries from what its agents have read",
  input: z.strictObject({ name }),
  output: list(folderOrigin),
  may: { scope: "read" },
  effect: "none",
  offline: true,
  cli: {
    args: ["name"],
    table: ["origin", "since", { field: "turn", shownChars: 8 }],
    none: () => "Its folder carries no origins.",
  },
  run: async ({ groups, store }, input) => store.origins.ofFolder(requireGroup(groups.list(), input.name).name),
});

export const clearFolderOrigins = defineOperation<GroupNeeds>()({
  name: "policy.clear",
  summary: "clear origins of a group's folder, after you have checked its files",
  input: z.strictObject({ name, origin: z.enum(origins).optional().describe("only this origin") }),
  output: z.strictObject({ group: z.string(), cleared: list(z.enum(origins)) }),
  may: { scope: "admin" },
  effect: "change",
  cli: {
    args: ["name"],
    say: ({ group: whose, cleared }) =>
      cleared.length === 0
        ? `The folder of group ${whose} carried no such origin.`
        : `The folder of group ${whose} no longer carries ${cleared.join(", ")}. Conversations keep their origins until /new.`,
  },
  run: async ({ groups, store, publish }, { name: wanted, origin }) => {
    const { name: found } = requireGroup(groups.list(), wanted);
    const carried: Origin[] = (await store.origins.ofFolder(found)).map((one) => one.origin);
    const cleared = carried.filter((one) => origin === undefined || one === origin);
    if (cleared.length > 0)
      await publish({ type: "origins.cleared", group: found, actor: "operator", data: { origins: cleared } });
    return { group: wanted, cleared: await store.origins.clearFolder(found, origin) };
  },
});

/** Undefined counts as never. */
function newestFirst(one: number | undefined, other: number | undefined): number {
  return (other ?? 0) - (one ?? 0);
}

/** Operations on groups. */
export const groupOperations = [listGroups, showGroupStatus, addGroup, removeGroup] as const;

/** Operations on origins that folders of groups carry. */
export const folderOriginOperations = [listFolderOrigins, clearFolderOrigins] as const;
