import * as z from "zod";

const count = z.number().int().positive();
const turns = z.number().int().min(0).max(1_000_000);
const days = z.number().int().min(0).max(36_500);

/** Budget of a day: messages with their stored data, and attached files. */
function dailyBudget(defaults: { messages: number; megabytes: number; attachmentMegabytes: number }) {
  return z
    .strictObject({
      messages: count.default(defaults.messages),
      megabytes: z.number().positive().default(defaults.megabytes),
      attachmentMegabytes: z.number().min(0).default(defaults.attachmentMegabytes),
    })
    .prefault({});
}

/** Limits of incoming messages. */
export const intake = z
  .strictObject({
    reserveMb: z.number().min(0).default(64).describe("With less free disk space than this, no messages are taken in."),
    perSenderPerMinute: count.default(6000).describe("Messages of one sender in one group."),
    attachmentMb: z
      .number()
      .min(0)
      .max(2048)
      .default(64)
      .describe("Larger files that members send are not fetched; 0: none are."),
    waitingTotal: count.default(10_000).describe("Messages of all groups together that may wait for an answer."),
    perGroupPerDay: dailyBudget({ messages: 20_000, megabytes: 64, attachmentMegabytes: 2048 }).describe(
      "What a group may send in a day (UTC).",
    ),
    perMemberPerDay: dailyBudget({ messages: 10_000, megabytes: 16, attachmentMegabytes: 512 }).describe(
      "What a member may send in a day (UTC), in all groups of a channel together.",
    ),
    autoRegister: z
      .strictObject({ perDay: count.default(1_000), total: count.default(5_000) })
      .prefault({})
      .describe("How many groups a channel with autoRegister may make in a day (UTC), and in all."),
  })
  .prefault({})
  .describe("What is taken in at all.");

/** Limits of agents' turns. */
export const limits = z
  .strictObject({
    turnsPerHour: turns.default(600).describe("Turns of a group within an hour; 0: no limit."),
    loopTurns: turns
      .default(60)
      .describe(
        "This many turns in a row, each begun by a message within 5 s of the end of the one before, and by the same few senders, count as a loop; 0: never.",
      ),
    maxSteps: turns.default(100).describe("Answers of the model in one turn; 0: no limit."),
    jobs: z
      .strictObject({
        perSession: z
          .number()
          .int()
          .min(0)
          .max(16)
          .default(4)
          .describe("Commands of an agent that may go on in the background at once; 0: none."),
        hours: z.number().positive().max(24).default(6).describe("A background job is ended after this time."),
      })
      .prefault({})
      .describe("Background jobs of agents."),
    subAgents: z
      .strictObject({
        depth: z
          .number()
          .int()
          .min(0)
          .max(3)
          .default(1)
          .describe("Sub-agents of sub-agents from 2 on; 0: none at all."),
        atOnce: z.number().int().min(1).max(64).default(4).describe("How many may be at work at once in a group."),
        minutes: z.number().positive().max(1_440).default(30).describe("The longest that one may take."),
      })
      .prefault({})
      .describe("Agents that work for agents."),
  })
  .prefault({})
  .describe("How often agents may be set to work, and for how long.");

/** Limits of a group; missing values come from the top level. */
export const groupLimits = z.strictObject({
  turnsPerHour: turns.optional(),
  loopTurns: turns.optional(),
  maxSteps: turns.optional(),
});

export const events = z
  .strictObject({
    retentionDays: days.default(7).describe("How long events are kept, for `crabpot events tail`; 0: for ever."),
  })
  .prefault({})
  .describe("The stream of everything that happens.");

export const store = z
  .strictObject({
    retentionDays: z
      .strictObject({ messages: days.default(365), turns: days.default(365), replies: days.default(90) })
      .prefault({})
      .describe("How long texts that are no longer needed are kept; 0: for ever."),
  })
  .prefault({})
  .describe("What is kept, and how long.");
