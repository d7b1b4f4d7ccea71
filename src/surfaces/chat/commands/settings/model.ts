import { isAtLeast } from "../../../../domain/people/role.ts";
import { AppError, isPassing } from "../../../../lib/app-error.ts";
import { nearest } from "../../../../lib/text/nearest.ts";
import { plainSentence, quotedName } from "../../../../lib/text/plain-words.ts";
import type { ChatCommand, ModelRoutes } from "../../command.ts";
import { describeChange } from "./set.ts";

/** Shows which models answer in the group, and lets admins choose another route. */
export const model: ChatCommand = {
  name: "model",
  help: "models in use here; admins choose with /model ROUTE",
  takes: "[ROUTE]",
  needs: "member",
  run: async ({ group, asker, pending }, { settings }) => {
    const routes = settings.routesOf(group);
    const wanted = (pending.argument ?? "").trim();
    if (wanted === "") return { text: describeRoutes(routes) };
    if (!isAtLeast(asker.role, "admin")) return { text: "/model ROUTE needs an admin." };
    if (!Object.hasOwn(routes.all, wanted)) return { text: unknownRoute(wanted, routes) };
    const by = pending.message.sender.id;
    try {
      const [change] = await settings.change({ group: group.name, key: "model", value: wanted, by });
      return { text: change ? describeChange(change) : `The route is already ${wanted}.` };
    } catch (error) {
      if (!(error instanceof AppError) || isPassing(error)) throw error;
      return { text: [plainSentence(error.message), error.fix].filter(Boolean).join(" ") };
    }
  },
};

function describeRoutes({ inUse, all }: ModelRoutes): string {
  return Object.entries(all)
    .toSorted(([one], [other]) => Number(other === inUse) - Number(one === inUse))
    .map(([route, models]) => `${route}${route === inUse ? " (in use)" : ""}: ${models.join(", then ")}`)
    .join("\n");
}

function unknownRoute(wanted: string, { all }: ModelRoutes): string {
  const meant = nearest(wanted, Object.keys(all));
  const hint = meant === undefined ? `Routes: ${Object.keys(all).join(", ")}.` : `Did you mean ${meant}?`;
  return `There is no route ${quotedName(wanted)}. ${hint}`;
}
