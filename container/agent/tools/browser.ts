import * as z from "zod";

import { ToolError } from "../../../src/protocol/tools.ts";
import { browserActions } from "../browser/requests.ts";
import { defineContainerTool } from "./tool.ts";

const looks: ReadonlySet<string> = new Set(["snapshot", "screenshot", "close"]);
const needsRef: ReadonlySet<string> = new Set(["click", "type", "select"]);

/** Pages of the web in a real browser, in the container, over the group's way out. */
export const browser = defineContainerTool({
  name: "browser",
  description:
    "Use pages of the web in a browser. Answers are snapshots of the page, in which what can be used has a ref such as e12. Downloads go to downloads/.",
  input: z.strictObject({
    action: z.enum([...browserActions, "close"]),
    url: z
      .string()
      .max(4_096)
      .regex(/^https:\/\/[^\s]+$/, "begins with https://")
      .optional()
      .describe("To open or download: https://…"),
    ref: z
      .string()
      .regex(/^[a-z0-9]{1,20}$/, "is a ref of the last snapshot, such as e12")
      .optional()
      .describe("Element of the last snapshot."),
    text: z.string().max(20_000).optional().describe("To type or select; for press a key, such as Enter."),
    submit: z.boolean().optional().describe("Press Enter after typing."),
    full: z.boolean().optional().describe("Screenshot of the whole page."),
  }),
  // What is opened tells somebody something, and a click can do anything that the page offers.
  risk: ({ action }) => (looks.has(action) ? "low" : "medium"),
  timeoutSeconds: 120,
  activity: { doing: "using a page of the web", shows: "url" },
  readsOnly: false,
  requires: "browser",
  origin: "web",
  run: async (input, { browser: own, files, signal }) => {
    if (input.action === "close") return (await own.close()) ? "The browser is closed." : "No browser is open.";
    const { action, ...request } = input;
    if (action === "open" && input.url === undefined) throw new ToolError("Opening a page needs its url.");
    if (needsRef.has(action) && input.ref === undefined) throw new ToolError(`The action ${action} needs a ref.`);
    if (action === "download" && (input.url === undefined) === (input.ref === undefined))
      throw new ToolError("A download needs either the ref of a link or a url.");
    const { text, isError, picture } = await own.ask({ action, ...request }, signal);
    if (picture === undefined) return { output: text, isError };
    const file = files.add(Buffer.from(picture, "base64"));
    return { output: text, isError, parts: [{ kind: "image", file, name: "screenshot.jpg" }] };
  },
});
