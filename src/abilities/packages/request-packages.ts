import * as z from "zod";

import { packageRequest } from "../../domain/sandbox/packages.ts";
import { joined, ofHost } from "../../domain/rights/sourced.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { packageNames } from "./config.ts";

/** The tool by which an agent asks for packages. */
export const requestPackages = defineTool({
  name: packageRequest,
  description:
    "Ask for packages that your container lacks. An admin decides; if allowed, you have them in a later turn.",
  input: z
    .strictObject({
      apt: packageNames("apt").optional().describe("name or name=version"),
      pip: packageNames("pip").optional().describe("name or name==version"),
      npm: packageNames("npm").optional().describe("name or name@version"),
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
  run: (_input, { changeOutcome }) =>
    changeOutcome({
      thing: "The list of the group's packages",
      written: joined(
        [
          ofHost`It is allowed. The packages are being installed, which takes some minutes;`,
          ofHost`you have them in a turn after that, and are told then. End this turn.`,
        ],
        " ",
      ),
    }),
});
