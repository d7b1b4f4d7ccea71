import type { FastifyInstance } from "fastify";
import * as z from "zod";

import { addressActor } from "../../domain/actor.ts";
import { AppError } from "../../lib/app-error.ts";
import { taskFields } from "./task-fields.ts";
import { addTask, listTasks, type TaskDesk, type TaskReadingOptions } from "./tasks.ts";
import { refuseInput } from "../refuse-input.ts";

export interface TaskHttpOptions {
  readonly store: TaskReadingOptions["store"];
  readonly groups: () => ReturnType<Parameters<typeof addTask>[0]["groups"]["list"]>;
  /** Undefined while the host is starting. */
  readonly taskDesk: () => TaskDesk | undefined;
}

const filter = z.strictObject({ group: z.string().min(1).max(256).optional() });
const wanted = z.strictObject({ group: z.string().min(1).max(256), ...taskFields });

/** Lists and makes tasks: whoever has the gateway's token makes them as the operator does. */
export function addTaskRoutes(routes: FastifyInstance, { store, groups, taskDesk }: TaskHttpOptions): void {
  routes.get("/v1/tasks", async (request, reply) => {
    const query = filter.safeParse(request.query);
    if (!query.success) return refuseInput(reply, query.error);
    return reply.send({ tasks: await listTasks({ store, groups: { list: groups } }, query.data.group) });
  });
  routes.post("/v1/tasks", async (request, reply) => {
    const body = wanted.safeParse(request.body);
    if (!body.success) return refuseInput(reply, body.error);
    const desk = taskDesk();
    if (!desk) throw new AppError("intake_stopped", "The host is starting.");
    const options = { taskDesk: desk, groups: { list: groups } };
    return reply.code(201).send(await addTask(options, body.data, addressActor(request.ip)));
  });
}
