import * as z from "zod";

import { groupSettingsOfAbilities, settingsOfAbilities } from "../../abilities/catalog.ts";
import { accesses, protections } from "../../domain/chats/group.ts";
import { reviewRules } from "../../domain/rights/review.ts";
import { sessionVisibilities } from "../../domain/turns/session.ts";
import { type Adapters, channelsOfEveryHome } from "../adapters.ts";
import { agentName, agents, groupAgents } from "./agents.ts";
import { events, groupLimits, intake, limits, store } from "./intake.ts";
import { access, groupAccess, groupMembers, members, people } from "./people.ts";
import { nameserverSchema, networkSchema, secretSchema } from "../../abilities/network.ts";
import { name } from "../../abilities/name.ts";
import { modelsOf } from "./models.ts";
import { pluginsOf } from "./plugins.ts";
import { groupPolicy, policy } from "./policy.ts";

const positive = z.number().positive();
const count = z.number().int().positive();
const minutes = z.number().min(0).max(525_600);

const budget = z.strictObject({
  tokensPerDay: count.optional().describe("No number, no limit."),
  usdPerDay: positive.optional().describe("In US dollars; no number, no limit."),
});

const budgets = z
  .strictObject({
    perGroup: budget.prefault({}).describe("Of each group."),
    total: budget
      .prefault({})
      .describe("Of all groups together; without a number, 5 US dollars for what has a known price."),
    warnAtPercent: z
      .number()
      .min(0)
      .max(100)
      .default(80)
      .describe("Once a day and budget a main group is told when this much of it is used; 0: never."),
  })
  .prefault({})
  .describe("What calls of models may use in a day (UTC).");

const approvals = z
  .strictObject({
    expiresMinutes: z
      .number()
      .positive()
      .max(7 * 24 * 60)
      .default(30)
      .describe("A call that nobody has answered for by then is denied."),
    approvers: z
      .enum(["member", "admin", "owner"])
      .default("admin")
      .describe("The least role that may answer, where a rule says nothing else."),
  })
  .prefault({})
  .describe("How people are asked about tool calls.");

/** Review settings of a group or a mount; missing values come from the group, or are the usual ones. */
const review = z
  .strictObject({
    apply: z
      .enum(reviewRules)
      .optional()
      .describe(
        "Who decides about changes: admin (usual) or owner; auto-text: nobody about small ones of plain text, else admin.",
      ),
    quorum: count
      .max(20)
      .optional()
      .describe("Different people who must apply a change; usually 1. One can discard it."),
    expiresMinutes: positive
      .max(365 * 24 * 60)
      .optional()
      .describe("A card is over after this time, usually 7 days; what it asks about stays undecided."),
  })
  .optional();

const mount = z.strictObject({
  source: z.string().min(1),
  target: z.string().min(1),
  access: z
    .enum(accesses)
    .default("ro")
    .describe("ro: read only. review: what the agent changes waits for people. rw: it changes the folder itself."),
  shared: z
    .boolean()
    .default(false)
    .describe("Other groups may have the same folder or a part of it, if their mounts say so, too."),
  protect: z
    .union([z.enum(protections), z.array(z.string().min(1).max(200)).max(32)])
    .default("standard")
    .describe(
      "With rw. standard: repositories and folders of editors and coding agents stay read-only. strict: so does all " +
        "that programs run by themselves; new files of that kind wait for people. none: nothing. Paths: these as well.",
    ),
  secrets: z
    .enum(["cover", "show"])
    .default("cover")
    .describe("cover: what looks like secrets is empty and unreadable for the agent. show: the agent can read it."),
  review,
});

const seconds = z.number().min(0).max(3600);

/** Progress settings of a group; missing values come from the top level. */
const groupProgress = z.strictObject({
  afterSeconds: seconds.optional(),
  reactions: z.boolean().optional(),
  answers: z.boolean().optional(),
});

const progress = z
  .strictObject({
    afterSeconds: seconds
      .default(10)
      .describe("When a turn has worked for this long, the chat is shown what it is doing; 0: never."),
    reactions: z.boolean().default(true).describe("Messages to the agent get an emoji when they are taken in."),
    answers: z
      .boolean()
      .default(false)
      .describe("The line about a turn also shows the answer while it is written, changed every 2 s."),
  })
  .prefault({})
  .describe("How chats are shown that the agent is at work, where the channel can.");

const group = z.strictObject({
  channel: name,
  chat: z.string().min(1).max(256),
  trigger: z.enum(["mention", "always"]).default("mention"),
  main: z.boolean().default(false),
  mounts: z.array(mount).max(32).default([]),
  review,
  agent: name.optional(),
  agents: groupAgents.optional().describe("Several agents instead of one: the first has what is for no other."),
  model: name.optional(),
  catchUpMinutes: minutes.optional(),
  policy: groupPolicy.optional(),
  budget: budget.optional(),
  limits: groupLimits.optional(),
  progress: groupProgress.optional(),
  timezone: z.string().optional(),
  members: groupMembers,
  access: groupAccess,
  ...groupSettingsOfAbilities,
  network: networkSchema.optional(),
  secrets: z.record(z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, "upper case, digits and _"), secretSchema).default({}),
});

/** Channels by name, each with its settings. Their types are known when a channel is opened. */
function channelsOf(adapters: Adapters): z.ZodType<Record<string, object>, Record<string, object>> {
  const entries = adapters.channels.map((channel) => [channel.name, channel.config.strict().optional()] as const);
  return z.strictObject(Object.fromEntries(entries)) as unknown as z.ZodType<
    Record<string, object>,
    Record<string, object>
  >;
}

/** The groups of a home that configures none. */
function firstGroups(adapters: Adapters): Record<string, z.output<typeof group>> {
  const [channel] = Object.keys(channelsOfEveryHome(adapters));
  if (channel === undefined) return {};
  return { main: { channel, chat: "main", trigger: "always", main: true, mounts: [], mcp: [], secrets: {} } };
}

const gateway = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1"),
    port: z.number().int().min(0).max(65535).default(7788),
    names: z
      .array(
        z
          .string()
          .toLowerCase()
          .regex(/^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$/, "a host name, without a port"),
      )
      .max(64)
      .default([])
      .describe("Names that requests may be for; addresses, localhost and `host` are known anyway."),
    token: z
      .string()
      .min(1)
      .optional()
      .meta({
        description: "With one, programs that know it are let in over HTTP; without, nothing listens but for hooks.",
        examples: ["${CRABPOT_TOKEN}"],
      }),
  })
  .prefault({})
  .describe("The HTTP server: the channel http, health checks, metrics.");

const sandbox = z
  .strictObject({
    runtime: z
      .string()
      .regex(/^[a-zA-Z0-9._-]+$/)
      .default("runc")
      .describe("What the engine runs containers with; runsc is gVisor."),
    memoryMb: z.number().int().min(128).max(1_048_576).default(1024).describe("What a container may hold."),
    cpus: z.number().min(0.1).max(256).default(1).describe("Processors that a container may use."),
    pids: z.number().int().min(64).max(32_768).default(256).describe("Processes in a container."),
    workspaceMb: z
      .number()
      .int()
      .min(16)
      .max(1_073_741_824)
      .default(4096)
      .describe("What a group's folder may hold; above it the group's agent is stopped."),
    network: networkSchema
      .default("none")
      .meta({ description: "Where containers may go.", examples: [{ allow: ["registry.npmjs.org:443"] }] }),
    nameservers: z
      .array(nameserverSchema)
      .min(1)
      .max(8)
      .optional()
      .describe("Who is asked for the addresses of allowed hosts. Left out: the servers of the system."),
  })
  .prefault({})
  .describe("What each container gets.");

const sessions = z
  .strictObject({
    visibility: z
      .enum(sessionVisibilities)
      .optional()
      .describe(
        "Which sessions agents may list, read and write to: self, tree (those that work for it), group, or all (main groups only). Left out: none, and they have no tools for it.",
      ),
    idleStopMinutes: positive.default(30).describe("An idle container is ended after this time."),
    freezeSeconds: z
      .number()
      .min(0)
      .max(86_400)
      .default(30)
      .describe("An idle container is paused after this time and resumes with the next message; 0: never."),
    memoryReserveMb: z
      .number()
      .min(0)
      .default(256)
      .describe(
        "With less memory available than this, idle containers are ended, first those that hold much for long.",
      ),
    maxHot: z
      .number()
      .int()
      .min(1)
      .max(1024)
      .optional()
      .describe(
        "Containers that are kept, and turns that work at once; as many again may wait for their tools. Left out: as many as memory allows, and 16.",
      ),
    turnTimeoutMinutes: positive.default(60).describe("A turn may take this long."),
    holdMinutes: positive
      .default(5)
      .describe("How long the tools of a turn may run while other groups wait for a place; then the turn ends."),
    silenceTimeoutSeconds: positive
      .max(3600)
      .default(60)
      .describe("An agent that gives no sign of life for this long, at its start or during a turn, is replaced."),
    catchUpMinutes: minutes
      .default(60)
      .describe("Messages that are older than this when the host starts are not answered; one notice says so."),
  })
  .prefault({})
  .describe("How long turns and containers last.");

const log = z
  .strictObject({
    level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("The least that is written down."),
    containerMb: z
      .number()
      .int()
      .min(1)
      .max(1_048_576)
      .default(64)
      .describe("What the logs of a group's sessions may take; above it the oldest ones are removed."),
  })
  .prefault({})
  .describe("What is logged.");

/** The whole of `config.yaml`, as these adapters allow it. Strict: an unknown key is an error. */
export function configSchema(adapters: Adapters) {
  return z.strictObject({
    assistant: z
      .strictObject({
        name: agentName.default("crab").describe("People write @ and this name to address the agent."),
      })
      .prefault({})
      .describe("What agents are called."),
    agents,
    timezone: z.string().default("UTC").describe("IANA zone in which the agent is told times."),
    models: modelsOf(adapters).prefault({}).describe("Which models answer, and with which keys."),
    budgets,
    policy: policy.prefault({}).describe("Which tools agents may use."),
    approvals,
    ...settingsOfAbilities,
    channels: channelsOf(adapters)
      .default(channelsOfEveryHome(adapters))
      .describe("Where people and programs talk to agents."),
    groups: z
      .record(name, group)
      .default(firstGroups(adapters))
      .meta({
        description: "Chats that have an agent, by the name of the group and of its folder.",
        examples: Object.keys(channelsOfEveryHome(adapters)).map((channel) => ({
          family: { channel, chat: "family", trigger: "mention" },
        })),
      }),
    plugins: pluginsOf(adapters).prefault({}).describe("Installed plugins with tools, by name."),
    people,
    members,
    access,
    gateway: gateway,
    sandbox: sandbox,
    sessions: sessions,
    progress,
    intake,
    limits,
    store,
    events,
    log,
  });
}

export type Config = z.output<ReturnType<typeof configSchema>>;
export type ConfigInput = z.input<ReturnType<typeof configSchema>>;
