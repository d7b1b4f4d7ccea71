import { expect, test } from "vitest";

import { builtInTools } from "../../../src/tools/catalog.ts";
import { ConversationTools } from "../../../src/tools/conversation-tools.ts";
import { ToolRegistry } from "../../../src/tools/registry.ts";
import { openTestStore } from "../../support/open-test-store.ts";
import { someGroup } from "../../support/some-group.ts";

test("the risk of a call is that of what it is called with: of a command line, what stands in it", async () => {
  await using opened = await openTestStore();
  const { sessions } = opened.store;
  const { id: session } = await sessions.open("agent:terminal:chat", "family");
  const options = { registry: new ToolRegistry(builtInTools), sessions, channelCan: () => true };
  const can = { callTools: true, seeImages: true };
  const tools = await new ConversationTools(options).of(someGroup("family"), { session, conversation: 1 }, can);
  const riskOf = (name: string, input: unknown) => tools.riskOf({ id: "1", name, input });

  expect(await riskOf("shell", { command: "ls -la" })).toBe("low");
  expect(await riskOf("shell", { command: "touch a", timeout_s: 5 })).toBe("medium");
  expect(await riskOf("shell", { command: "git push --force" })).toBe("high");
  expect(await riskOf("shell", { command: ["ls"] })).toBe("high");
  expect(await riskOf("read_file", { path: "notes.md" })).toBe("low");
  expect(await riskOf("write_file", { path: "notes.md", content: "" })).toBe("medium");
  expect(await riskOf("gone", {})).toBeUndefined();
});
