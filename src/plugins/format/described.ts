import * as z from "zod";

import { hiddenInProse } from "../../lib/text/hidden-characters.ts";
import { narrowSchema, validatorOf } from "./narrow-schema.ts";

/*
 * A plugin's description by its own process, kept in `plugins.lock`, so that programs can check settings and offer
 * tools without loading its code. All of it is hostile and bounded.
 */

const maxSchemaBytes = 128 * 1024;

const jsonSchema = z.unknown().transform((value, context) => {
  try {
    if (JSON.stringify(value ?? null).length > maxSchemaBytes)
      throw new Error(`it has more than ${maxSchemaBytes} bytes`);
    const narrowed = narrowSchema(value);
    validatorOf(narrowed);
    return narrowed;
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : "it cannot be read" });
    return z.NEVER;
  }
});

const prose = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine(
      (text) => text.replaceAll(/[\n\t\r]/g, "").search(hiddenInProse) < 0,
      "has characters in it that are not seen",
    );

const settingNames = z.array(z.string().max(64)).max(32);

export const describedTool = z.strictObject({
  kind: z.literal("tool"),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: prose(8_000),
  mainDescription: prose(8_000).optional(),
  input: jsonSchema,
  config: jsonSchema.optional(),
  secrets: settingNames,
  risk: z.enum(["low", "medium", "high"]),
  timeoutSeconds: z.number().positive().max(600),
  activity: z.strictObject({ doing: prose(100), shows: z.string().max(64).optional() }).optional(),
  asksAlways: z.boolean(),
  needsVision: z.boolean(),
  sends: z.boolean(),
  right: z.enum(["speak", "schedule", "propose", "spawn", "supervise", "begin"]).optional(),
  channelTrait: z.enum(["reactions"]).optional(),
});

const trait = z.boolean().optional();

/** Traits that a plugin's channel may have. Others would make it more than a place to talk. */
export const pluginTraits = z.strictObject({
  reactions: trait,
  hearsReactions: trait,
  edits: trait,
  quotes: trait,
  namesAgents: trait,
  onboards: trait,
  typedChats: trait,
});

const adapterName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/);

export const describedChannel = z.strictObject({
  kind: z.literal("channel"),
  name: adapterName,
  config: jsonSchema,
  secrets: settingNames,
  traits: pluginTraits,
});

export const describedProvider = z.strictObject({
  kind: z.literal("provider"),
  name: adapterName,
  config: jsonSchema,
  secrets: settingNames,
});

const described = z.discriminatedUnion("kind", [describedTool, describedChannel, describedProvider]);

/** All definitions of a plugin. */
export const describedPlugin = z.array(described).min(1).max(64);

export type DescribedTool = z.output<typeof describedTool>;
export type DescribedChannel = z.output<typeof describedChannel>;
export type DescribedProvider = z.output<typeof describedProvider>;
export type Described = z.output<typeof described>;
