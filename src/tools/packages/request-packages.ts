import * as z from "zod";

import { mostPackages, packageFault, type PackageManager, packageRequest } from "../../domain/sandbox/packages.ts";
import { defineTool } from "../define-tool.ts";

function namesFor(manager: PackageManager, what: string) {
  const name = z.string().superRefine((text, context) => {
    const fault = packageFault(manager, text);
    if (fault !== undefined) context.addIssue(fault);
  });
  return z.array(name).max(mostPackages).optional().describe(what);
}

export const requestPackages = defineTool({
  name: packageRequest,
  description:
    "Ask for packages that your container lacks. An admin decides; if allowed, you have them in a later turn.",
  input: z
    .strictObject({
      apt: namesFor("apt", "name or name=version"),
      pip: namesFor("pip", "name or name==version"),
      npm: namesFor("npm", "name or name@version"),
      reason: z.string().max(400).optional().describe("Why, for people."),
    })
    .refine(({ apt = [], pip = [], npm = [] }) => apt.length + pip.length + npm.length > 0, "names no package"),
  runs: "host",
  risk: "high",
  asksAlways: true,
  timeoutSeconds: 60,
  activity: { doing: "asking for packages" },
  needs: ["changeOutcome"],
  right: "propose",
  run: (_input, { changeOutcome }) => changeOutcome(),
});
