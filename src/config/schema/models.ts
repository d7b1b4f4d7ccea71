import * as z from "zod";

import type { ProviderSettings } from "../../models/define-provider.ts";
import { efforts } from "../../models/routes/routes.ts";
import { type Adapters, providersOfEveryHome } from "../adapters.ts";
import { name } from "../../abilities/name.ts";

const positive = z.number().positive();
const count = z.number().int().positive();

const capability = z.strictObject({
  contextTokens: count.optional(),
  maxOutputTokens: count.optional(),
  vision: z.boolean().optional(),
  tools: z.boolean().optional(),
  inputUsd: z.number().min(0).optional(),
  cachedInputUsd: z.number().min(0).optional(),
  outputUsd: z.number().min(0).optional(),
  cacheMinutes: z
    .number()
    .min(0)
    .max(10_080)
    .optional()
    .describe("How long its vendor keeps a prompt in its cache; long results of tools are cleared when it is over."),
  spokenUsd: z.number().min(0).optional().describe("For a million characters that it says aloud."),
  minuteUsd: z.number().min(0).optional().describe("For a minute that it says aloud or hears."),
});

/** `provider/model`; the model's name may hold slashes itself. */
const modelReference = z.string().regex(/^[a-z0-9][a-z0-9_-]*\/\S+$/, "write provider/model");

const routeEntry = z.union(
  [
    modelReference,
    z.strictObject({
      model: modelReference,
      thinking: z
        .enum(efforts)
        .optional()
        .describe("How much it thinks before it answers. Left out: as its vendor has it."),
      temperature: z.number().min(0).max(2).optional(),
      maxOutputTokens: count.optional().describe("Of one answer, at most."),
      weight: positive
        .max(1000)
        .optional()
        .describe("Of those that have one, each conversation has its first by chance, by these weights."),
    }),
  ],
  { error: 'write provider/model, or { model: "provider/model", thinking: low, … }' },
);

/** Providers by name; the kind of one says what else may stand there. */
function providersOf(adapters: Adapters): z.ZodType<Record<string, ProviderSettings>> {
  const kinds = adapters.providers.map(({ kind, config }) => config.strict().safeExtend({ kind: z.literal(kind) }));
  const [first, ...more] = kinds;
  const provider = first ? z.discriminatedUnion("kind", [first, ...more]) : z.never();
  // Put together at run time, so the compiler does not see that each form has its kind.
  return z.record(name, provider) as unknown as z.ZodType<Record<string, ProviderSettings>>;
}

/** `models`: which models answer, and with which keys. */
export function modelsOf(adapters: Adapters) {
  const always = providersOfEveryHome(adapters);
  const vendors = adapters.providers.flatMap(({ kind, environment }) =>
    environment ? [{ kind, ...environment }] : [],
  );
  return z.strictObject({
    default: name.default("main").describe("The route of groups that name none."),
    routes: z
      .record(name, z.array(routeEntry).min(1).max(8))
      .default({ main: always.slice(0, 1).map(({ kind, model }) => `${kind}/${model}`) })
      .meta({
        description: "provider/model; the next one is tried when one fails.",
        examples: vendors.map(({ kind, model }) => ({ main: [`${kind}/${model}`] })),
      }),
    providers: providersOf(adapters)
      .default(Object.fromEntries(always.map(({ kind, settings }) => [kind, settings])))
      .meta({
        description: "Who is asked, by your own names.",
        examples: vendors.map(({ kind, keyVariable }) => ({ [kind]: { kind, apiKey: `\${${keyVariable}}` } })),
      }),
    capabilities: z
      .record(modelReference, capability)
      .default({})
      .meta({
        description: "What a model can do and costs, per million tokens, where the built-in table does not know it.",
        examples: [{ "local/qwen3": { contextTokens: 32_768, maxOutputTokens: 4096, inputUsd: 0, outputUsd: 0 } }],
      }),
    timeoutSeconds: positive
      .max(3600)
      .default(300)
      .describe("Longest silence of a provider before a call counts as failed."),
    attempts: z
      .number()
      .int()
      .min(1)
      .max(10)
      .default(4)
      .describe("Attempts per model before the next one of the route is tried."),
  });
}
