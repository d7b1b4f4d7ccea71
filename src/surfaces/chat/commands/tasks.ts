import { heartbeatFile } from "../../../domain/work/heartbeat.ts";
import { operationCommand } from "../operation-command.ts";

/** Shows what the group's agent does at certain times; people who may decide about that. */
export const tasks = operationCommand({
  name: "tasks",
  help: "tasks at certain times; admins: /tasks pause|resume|remove|run ID",
  takes: "[pause|resume|remove|run ID]",
  needs: "member",
  load: async () => (await import("../../../abilities/tasks/operations.ts")).taskOperations,
  around: ({ group }, { nextHeartbeatOf, showTime }) => {
    const beat = nextHeartbeatOf(group.name);
    if (beat === undefined) return {};
    return {
      after: `I also check ${heartbeatFile} regularly: next ${showTime(beat, group)}. To stop this, use /set ${group.name} heartbeat off in a main group.`,
    };
  },
});
