import type { Command } from "commander";

import { type CheckedSection, checkPrompt, checkPrompts } from "../../../../config/prompts/prompt-files.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

/** The sections of the system prompt are read from their files, so none of it needs a running host. */
export function addPromptsCommand(program: Command, context: CommandContext): void {
  const prompts = program.command("prompts").description("list, show and check the sections of the system prompt");
  const sections = (): Promise<readonly CheckedSection[]> =>
    checkPrompts(context.environment.checkout, context.paths.prompts);

  addLeaf(prompts, "list", "list all sections in order").action(async (_options: object, command: Command) => {
    context.outputOf(command).items(
      (await sections()).map(view),
      [
        { title: "name", of: ({ name }) => name },
        { title: "state", of: ({ state }) => state },
        { title: "source", of: ({ source }) => source },
        { title: "characters", of: ({ characters }) => String(characters) },
        { title: "file", of: ({ file }) => file },
      ],
      "There are no sections.",
    );
  });

  addLeaf(prompts, "show <name>", "show the text of a section").action(
    async (name: string, _options: object, command: Command) => {
      const section = await checkPrompt(context.environment.checkout, context.paths.prompts, name);
      const output = context.outputOf(command);
      if (output.json) return output.object({ ...view(section), text: section.text });
      output.line((section.text ?? "").trimEnd());
    },
  );

  addLeaf(prompts, "check", "check all sections; exit 1 if one is invalid").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      for (const section of await sections()) {
        if (output.json) output.object(view(section));
        else output.line(`${section.file}: ${section.faults.join("; ") || "ok"}`);
        if (section.faults.length > 0) context.exitCode = 1;
      }
    },
  );
}

function view({ name, file, source, text, faults }: CheckedSection) {
  const state = faults.length === 0 ? "ok" : "invalid";
  return { name, state, source, characters: text?.length ?? 0, file, faults };
}
