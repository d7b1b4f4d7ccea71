import type { Command } from "commander";

import { shorten } from "../../../lib/text/visible.ts";
import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { listWebhooks, testWebhook } from "../../../operations/webhooks/operations.ts";

const shownChars = 60;
const stored = 202;
const testBody = '{"test":true}';

export function addHooksCommand(program: Command, context: CommandContext): void {
  const hooks = program.command("hooks").description("webhooks: how other programs give agents something to do");

  addLeaf(hooks, "list", "the webhooks of config.yaml").action(async (_options: object, command: Command) => {
    context.outputOf(command).items(
      await context.call(listWebhooks, {}),
      [
        { title: "name", of: ({ name }) => name },
        { title: "group", of: ({ group, hasGroup }) => (hasGroup ? group : `${group} (not there)`) },
        { title: "role", of: ({ role }) => role },
        { title: "per minute", of: ({ perMinute }) => String(perMinute) },
        { title: "url", of: ({ url }) => url ?? "the gateway does not listen" },
        { title: "prompt", of: ({ prompt }) => (prompt === undefined ? undefined : shorten(prompt, shownChars)) },
      ],
      "config.yaml has no hooks.",
    );
  });

  addLeaf(hooks, "test <name>", "call a webhook of the running host, signed; its agent gets something to do")
    .option("--body <text>", "what is sent", testBody)
    .action(async (name: string, { body }: { body: string }, command: Command) => {
      const test = await context.call(testWebhook, { name, text: body });
      const output = context.outputOf(command);
      if (test.status !== stored) context.exitCode = 1;
      if (output.json) output.object(test);
      else if (test.status === stored) output.line(`The agent has it: work ${test.id ?? ""}.`);
      else output.line(`The call was refused with ${test.status}: ${test.error ?? ""}`);
    });
}
