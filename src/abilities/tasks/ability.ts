import { defineAbility } from "../define-ability.ts";
import type { TaskNeeds } from "./task-service.ts";
import { cancelTask } from "./tools/cancel-task.ts";
import { listTasks } from "./tools/list-tasks.ts";
import { runTask } from "./tools/run-task.ts";
import { scheduleTask } from "./tools/schedule-task.ts";
import { updateTask } from "./tools/update-task.ts";

/** Has agents do things at certain times. */
export const tasks = defineAbility<TaskNeeds>()({
  name: "tasks",
  tools: [cancelTask, listTasks, runTask, scheduleTask, updateTask],
  start: async (needs) => {
    const { TaskService } = await import("./task-service.ts");
    return new TaskService(needs);
  },
  portFor: async (service, scope) => {
    const { taskPort } = await import("./task-port.ts");
    return taskPort(service, scope);
  },
});
