import * as z from "zod";

import type { Group } from "../../domain/chats/group.ts";
import type { LearnedWindow } from "../../domain/turns/usage.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { formatTime } from "../../lib/time/formats.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { requireGroup } from "../lookup/require-group.ts";
import { list, name, nothing, time } from "../definition/schemas.ts";

/** A model of the configuration's routes, or of which something was learned. */
const modelView = z.strictObject({
  name: z.string().describe("`provider/model`"),
  routes: list(z.string()).describe("Routes that name it"),
  windowTokens: z.number().describe("The learned window where that is smaller"),
  learned: z.strictObject({ windowTokens: z.number(), at: time }).optional().describe("From its server's refusals"),
  factor: z.number().optional().describe("Its count of a prompt, as a multiple of our estimate"),
});

export type ModelView = z.infer<typeof modelView>;

interface KnownModel {
  readonly reference: string;
  readonly routes: readonly string[];
  readonly windowTokens: number;
}

/** The parts that know models. */
export interface ModelReadingNeeds {
  readonly store: {
    readonly usage: {
      learnedWindows(): Promise<readonly LearnedWindow[]>;
      tokenFactors(): Promise<ReadonlyMap<string, number>>;
    };
  };
  /** Those of all routes, and the windows of others. */
  readonly models: {
    list(): readonly KnownModel[];
    windowOf(reference: string): number;
  };
}

/** The parts that forget what was learned. */
export interface ModelNeeds extends ModelReadingNeeds {
  /** In memory and in the store. */
  readonly forgetLearned: (models: readonly string[]) => Promise<void>;
}

/** The parts that know routes of models. */
interface RouteNeeds {
  readonly groups: { list(): readonly Pick<Group, "name" | "model">[] };
  readonly modelRoutes: {
    /** By name, each with its models in the order in which they are tried. */
    all(): Readonly<Record<string, readonly string[]>>;
    /** The route of groups that name none. */
    usual(): string;
  };
}

export const listRoutes = defineOperation<RouteNeeds>()({
  name: "models.routes",
  summary: "list routes of models, first the one by which a group is answered",
  input: z.strictObject({ group: name.describe("the group") }),
  output: list(z.strictObject({ route: z.string(), models: list(z.string()), inUse: z.boolean() })),
  may: { scope: "read", role: "member" },
  effect: "none",
  cli: { table: ["route", "models", { field: "inUse", title: "in use" }], none: () => "There are no routes." },
  chat: {
    form: "/model",
    say: (routes) =>
      routes
        .map(({ route, models, inUse }) => `${route}${inUse ? " (in use)" : ""}: ${models.join(", then ")}`)
        .join("\n"),
  },
  run: async ({ groups, modelRoutes }, { group }) => {
    const used = requireGroup(groups.list(), group).model ?? modelRoutes.usual();
    return Object.entries(modelRoutes.all())
      .map(([route, models]) => ({ route, models, inUse: route === used }))
      .toSorted((one, other) => Number(other.inUse) - Number(one.inUse));
  },
});

export const listModels = defineOperation<ModelReadingNeeds>()({
  name: "models.list",
  summary: "list models of routes, then others of which something was learned",
  input: nothing,
  output: list(modelView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /models",
  listAs: "models",
  offline: true,
  cli: {
    table: [
      "name",
      "routes",
      { field: "windowTokens", title: "window" },
      { title: "learned (UTC)", of: ({ learned }) => learned && formatTime(learned.at) },
      { title: "factor", of: ({ factor }) => factor?.toFixed(2) },
    ],
    none: () => "There are no models.",
  },
  run: async (needs) => viewModels(needs),
});

/** Rejects with `not_found` where nothing was learned of this model. */
export const forgetModels = defineOperation<ModelNeeds>()({
  name: "models.forget",
  summary: "forget what was learned of a model, or of all",
  input: z.strictObject({ name: name.optional() }),
  output: z.strictObject({ forgotten: list(z.string()) }),
  may: { scope: "admin" },
  effect: "change",
  cli: {
    args: ["name"],
    say: ({ forgotten }) => (forgotten.length === 0 ? "Nothing to forget." : `Forgotten: ${forgotten.join(", ")}.`),
  },
  run: async (needs, { name: wanted }) => {
    const learned = (await viewModels(needs)).filter((model) => model.learned ?? model.factor !== undefined);
    const forgotten = learned.map((model) => model.name).filter((each) => wanted === undefined || each === wanted);
    if (wanted !== undefined && forgotten.length === 0)
      throw new AppError("not_found", `Nothing was learned of a model "${wanted}".`, {
        fix: ownCommand("models list"),
      });
    if (forgotten.length > 0) await needs.forgetLearned(forgotten);
    return { forgotten };
  },
});

async function viewModels({ store, models }: ModelReadingNeeds): Promise<ModelView[]> {
  const factors = await store.usage.tokenFactors();
  const windows = new Map((await store.usage.learnedWindows()).map((learned) => [learned.model, learned]));
  const known = models.list();
  const others = [...new Set([...factors.keys(), ...windows.keys()])]
    .filter((each) => known.every(({ reference }) => reference !== each))
    .map((reference) => ({ reference, routes: [], windowTokens: models.windowOf(reference) }));
  return [...known, ...others].map(({ reference, routes, windowTokens }) => {
    const [learned, factor] = [windows.get(reference), factors.get(reference)];
    return {
      name: reference,
      routes,
      windowTokens: Math.min(windowTokens, learned?.windowTokens ?? Infinity),
      ...(learned && { learned: { windowTokens: learned.windowTokens, at: learned.learnedAt } }),
      ...(factor !== undefined && { factor }),
    };
  });
}

/** Operations on models. */
export const modelOperations = [listModels, listRoutes, forgetModels] as const;
