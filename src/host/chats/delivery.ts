import { hasTrait } from "../../config/adapters.ts";
import { createEventNotices } from "../../delivery/event-notices.ts";
import { GroupNotices } from "../../delivery/group-notices.ts";
import { createTellOperator, type TellOperator } from "../../delivery/operator-notices.ts";
import { Outbox } from "../../delivery/outbox.ts";
import { createQuotes } from "../../delivery/quotes.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import { RetryingStore } from "../../stores/retrying-store.ts";
import type { AppContext } from "../context.ts";
import type { Entrances } from "./entrances.ts";

/** Opens the outbox and the operator's notices, with a store and events that wait for trouble of the machine to pass. */
export function openDelivery(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: { readonly groups: GroupRegistry; readonly guard: IntakeGuard; readonly entrances: Entrances },
): {
  readonly outbox: Outbox;
  readonly deliver: () => void;
  readonly notices: GroupNotices;
  readonly tell: TellOperator;
  readonly retrying: RetryingStore;
  readonly patient: AppContext;
} {
  const outbox = stack.use(createOutbox(context, options.entrances));
  const tell = tellOperator(context, { ...options, outbox });
  const deliver = (): void => outbox.wake();
  const retrying = createRetrying(context, options.guard);
  const notices = new GroupNotices(retrying.store.outbox, deliver, context.clock);
  return { outbox, deliver, notices, tell, retrying, patient: retryingContext(context, retrying) };
}

function tellOperator(
  { store, clock, logger, events }: AppContext,
  { groups, outbox, entrances: { channels } }: { groups: GroupRegistry; outbox: Outbox; entrances: Entrances },
): TellOperator {
  const tell = createTellOperator({ outboxStore: store.outbox, outbox, groups, channels, clock, logger });
  events.subscribe("operator notices", createEventNotices(logger, tell));
  return tell;
}

function createRetrying({ store, logger }: AppContext, guard: IntakeGuard): RetryingStore {
  return new RetryingStore(store, { logger, onTrouble: (error) => guard.failed(error) });
}

/** The context of turns, in which store and events wait for trouble of the machine to pass. */
function retryingContext(context: AppContext, retrying: RetryingStore): AppContext {
  const { publish } = context;
  return { ...context, store: retrying.store, publish: (event) => retrying.retry(() => publish(event)) };
}

function createOutbox(context: AppContext, { channels }: Entrances): Outbox {
  const { store, logger, clock, publish } = context;
  const canQuote = (channel: string): boolean => hasTrait(context, channel, "quotes");
  return new Outbox({
    quoteOf: createQuotes({ messages: store.messages, canQuote }),
    namesAgents: (channel) => hasTrait(context, channel, "namesAgents"),
    store: store.outbox,
    channelOf: (name) => channels.find((channel) => channel.name === name),
    logger,
    clock,
    publish,
  });
}
