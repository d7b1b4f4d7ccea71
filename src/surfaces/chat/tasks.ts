import { heartbeatFile } from "../../domain/work/heartbeat.ts";
import { operationCommand } from "./operation-command.ts";

/** Shows what the group's agent does at certain times; people who may decide about that. */
export const tasks = operationCommand({
  name: "tasks",
  help: "shows what I do at certain times; admins: /tasks pause|resume|remove|run ID",
  takes: "[pause|resume|remove|run ID]",
  needs: "member",
  load: async () => (await import("../../operations/tasks/operations.ts")).taskOperations,
  around: ({ group }, { nextHeartbeatOf, showTime }) => {
    const beat = nextHeartbeatOf(group.name);
    if (beat === undefined) return {};
    return {
      after: `I also look at ${heartbeatFile} by myself: next ${showTime(beat, group)}. In a main group, /set ${group.name} heartbeat off ends that.`,
    };
  },
});
