import type { AcceptMessage } from "../channels/channel.ts";
import { groupDefaults } from "../config/groups.ts";
import type { Group } from "../domain/group.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { dayOf } from "../llm/budget.ts";
import type { GroupQueue } from "../queue/group-queue.ts";
import { createAutoRegister } from "../router/auto-register.ts";
import type { GroupRegistry } from "../router/group-registry.ts";
import { createRouter, routerLimits } from "../router/router.ts";
import { createChatCommands } from "../sessions/chat-commands.ts";
import type { SessionPool } from "../sessions/pool.ts";
import type { TurnRunner } from "../sessions/turn-runner.ts";
import type { AppContext } from "./context.ts";
import { describeForChat } from "./events.ts";
import { sessionKeyOf } from "./turns.ts";

export interface IntakeParts {
  readonly groups: GroupRegistry;
  readonly runner: TurnRunner;
  readonly queue: GroupQueue;
  readonly outbox: Outbox;
  readonly pool: SessionPool;
  readonly intakeOpen: () => true | string;
}

/** From the channels to the queue: the router with what it needs, and a count of what came in. */
export function createIntake(context: AppContext, parts: IntakeParts): AcceptMessage {
  const { config, store, clock, record, metrics, logger } = context;
  const { groups, queue, outbox } = parts;
  const runCommand = createCommands(context, parts);
  const accept = createRouter({
    registry: groups,
    store,
    assistantName: config.assistant.name,
    intakeOpen: parts.intakeOpen,
    autoRegister: config.channels.http?.autoRegister
      ? createAutoRegister({ channel: "http", registry: groups, defaults: groupDefaults(config) })
      : undefined,
    wake: (group) => queue.wake(group),
    runCommand: async (group, command, message) => {
      try {
        const data = { command, id: message.id };
        await record({ type: "command", group: group.name, actor: message.sender.id, data });
        await runCommand(group, command, message);
      } catch (error) {
        logger.error({ error, group: group.name, command }, "a chat command failed");
      }
    },
    notify: async (draft) => {
      await store.outbox.add(draft, clock.now());
      outbox.wake();
    },
    limits: routerLimits,
    clock,
    audit: record,
  });
  return async (message) => {
    const receipt = await accept(message);
    metrics.messageIn(message.channel, receipt);
    return receipt;
  };
}

function createCommands({ config, store, clock }: AppContext, parts: IntakeParts) {
  const sessionKey = sessionKeyOf(config.assistant.name);
  const describe = async (group: Group): Promise<string> => {
    const usage = (await store.usage.ofDay(dayOf(clock.now()))).find((entry) => entry.group === group.name);
    const hot = parts.pool.list().find((container) => container.group === group.name);
    return describeForChat({
      assistantName: config.assistant.name,
      models: config.models.routes[group.model ?? config.models.default] ?? [],
      waiting: await store.messages.waitingCount(group.name),
      active: parts.runner.isActive(group.name),
      container: hot && `${hot.name} (${hot.state})`,
      group,
      tokensToday: usage?.tokens ?? 0,
    });
  };
  return createChatCommands({
    store,
    sessionKey,
    cancelTurn: (group, reason) => parts.runner.cancel(group, reason),
    describe,
    deliver: () => parts.outbox.wake(),
    clock,
  });
}
