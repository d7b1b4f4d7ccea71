import * as z from "zod";

import type { Group, GroupChat, GroupFolder } from "../../domain/chats/group.ts";
import type { Chat } from "../../domain/chats/group.ts";
import type { Publish } from "../../domain/events/event.ts";
import { type FolderOrigin, type Origin, origins } from "../../domain/people/origin.ts";
import { type Role, roles } from "../../domain/people/role.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Store } from "../../stores/contract/store.ts";
import { findChannel, type OperableChannel } from "../channels/operations.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { list, name, nothing, schemaOf, time } from "../definition/schemas.ts";

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
      access: z.enum(["ro", "rw"]),
      shared: z.boolean(),
      protect: list(z.string()),
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
  input: z.strictObject({
    name,
    channel: name,
    chat: name,
    trigger: z.enum(["mention", "always"]).default("mention"),
    main: z.boolean().default(false),
    model: name.optional(),
    adopt: z
      .boolean()
      .default(false)
      .describe("it gets the folder of its name even if that is, or may be, another chat's"),
  }),
  output: schemaOf<Group>(group),
  may: { scope: "admin" },
  effect: "change",
  run: async (needs, { name: wanted, channel, chat, trigger, main, model, adopt }) => {
    if (!needs.isConfigured(channel)) findChannel(needs.channels, channel);
    const fault = needs.chatFault(channel, chat);
    if (fault !== undefined) throw new AppError("bad_input", `"${chat}" ${fault}.`);
    if (model !== undefined && !needs.routes.includes(model)) {
      throw new AppError("bad_input", `There is no route "${model}"; there are: ${needs.routes.join(", ")}.`);
    }
    return needs.groups.add({ name: wanted, channel, chat, trigger, main, model }, { adopt });
  },
});

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
  run: async ({ groups, store }, input) => store.origins.ofFolder(requireGroup(groups.list(), input.name).name),
});

/** Rejects with `bad_input` for an unknown origin. */
export const clearFolderOrigins = defineOperation<GroupNeeds>()({
  name: "policy.clear",
  summary: "clear an origin that a group's folder carries, or all",
  input: z.strictObject({ name, origin: name.optional() }),
  output: z.strictObject({ group: z.string(), cleared: list(z.enum(origins)) }),
  may: { scope: "admin" },
  effect: "change",
  run: async ({ groups, store, publish }, { name: wanted, origin: given }) => {
    const origin = origins.find((known) => known === given);
    if (given !== undefined && origin === undefined)
      throw new AppError("bad_input", `There is no origin "${given}"; there are: ${origins.join(", ")}.`);
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
export const groupOperations = [listGroups, addGroup, removeGroup] as const;

/** Operations on origins that folders of groups carry. */
export const folderOriginOperations = [listFolderOrigins, clearFolderOrigins] as const;
