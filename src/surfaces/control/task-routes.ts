import * as z from "zod";

import { taskFields } from "../../operations/operations.ts";
import { name, type Route, route } from "./route.ts";

/** What is done at certain times. */
export const taskRoutes: readonly Route<never>[] = [
  route({
    method: "GET",
    path: "/tasks",
    operation: "tasks.list",
    parameters: z.strictObject({ group: name.optional() }),
    run: (host, { group }) => host.listTasks(group),
  }),
  route({
    method: "POST",
    path: "/tasks",
    operation: "tasks.add",
    parameters: z.strictObject({ group: name, ...taskFields }),
    // What is to be done stays in the store.
    record: ({ group, mode, missed }) => ({ group, ...(mode && { mode }), ...(missed && { missed }) }),
    run: (host, task) => host.addTask(task),
  }),
  route({
    method: "GET",
    path: "/tasks/:id/history",
    operation: "tasks.history",
    parameters: z.strictObject({ id: name, limit: z.coerce.number().int().min(1).max(1000).default(20) }),
    run: (host, { id, limit }) => host.taskHistory(id, limit),
  }),
  route({
    method: "POST",
    path: "/tasks/:id/:action",
    operation: "tasks.act",
    parameters: z.strictObject({ id: name, action: z.enum(["pause", "resume", "remove", "run"]) }),
    run: (host, { id, action }) => host.actOnTask(id, action),
  }),
];
