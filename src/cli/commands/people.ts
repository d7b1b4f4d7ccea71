import type { Command } from "commander";

import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";

export function addPeopleCommand(program: Command, context: CommandContext): void {
  const people = program.command("people").description("who is known, and what they may");

  addLeaf(people, "list", "who has written in groups or is named for them, and with which role")
    .option("--group <group>", "of this group only")
    .action(async ({ group }: { group?: string }, command: Command) => {
      context.outputOf(command).items(
        await context.read((host) => host.listPeople(group)),
        [
          { title: "group", of: (person) => person.group },
          { title: "id", of: (person) => person.id },
          { title: "called", of: (person) => person.name },
          { title: "person", of: (person) => person.person },
          { title: "role", of: (person) => person.role },
          { title: "because of", of: (person) => person.why },
        ],
        "Nobody has written yet.",
      );
    });
}
