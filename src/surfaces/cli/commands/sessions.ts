import type { Command } from "commander";

import type { CommandContext } from "../context.ts";
import { addLeaf } from "../context.ts";
import { formatTime } from "../formats.ts";
import { listSessions, stopSession } from "../../../operations/sessions/operations.ts";

export function addSessionsCommand(program: Command, context: CommandContext): void {
  const sessions = program.command("sessions").description("list sessions, stop containers");

  addLeaf(sessions, "list", "all sessions and their containers").action(async (_options: object, command: Command) => {
    context.outputOf(command).items(
      await context.read(listSessions, {}),
      [
        { title: "session", of: (session) => session.session },
        { title: "group", of: (session) => session.group },
        { title: "agent", of: (session) => session.agent },
        { title: "kind", of: (session) => session.kind },
        { title: "parent", of: (session) => session.parent },
        { title: "container", of: (session) => session.container?.state ?? "none" },
        { title: "name", of: (session) => session.container?.name },
        { title: "last used (UTC)", of: (session) => formatTime(session.container?.lastUsedAt) },
        { title: "generation", of: (session) => session.generation },
        { title: "conversation", of: (session) => session.conversation },
      ],
      "There are no sessions yet.",
    );
  });

  addLeaf(
    sessions,
    "stop <session>",
    "end the container of a session or group; a running turn goes on in a new one",
  ).action(async (target: string, _options: object, command: Command) => {
    const answer = await context.call(stopSession, { target });
    const output = context.outputOf(command);
    if (output.json) output.object(answer);
    output.line(answer.stopped.length === 0 ? "It has no container." : `Stopped ${answer.stopped.join(", ")}.`);
  });
}
