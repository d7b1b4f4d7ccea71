import { hasTrait } from "../../config/adapters.ts";
import { secretsOf } from "../../config/loading/secrets.ts";
import { createFailureNotices } from "../../delivery/failure-notices.ts";
import type { TellOperator } from "../../delivery/operator-notices.ts";
import { createReplyFormats } from "../../delivery/reply-redaction.ts";
import type { ReplyFormats } from "../../delivery/reply-redaction.ts";
import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import type { TurnRunner } from "../../turns/turn-runner.ts";
import type { Capabilities } from "../capabilities/capabilities.ts";
import type { Containers } from "../containers/containers.ts";
import type { AppContext } from "../context.ts";
import type { Approvals } from "../people/approvals.ts";
import { openOutgoingFiles } from "../containers/files.ts";
import type { openProviderSet } from "./turn-settings.ts";
import { createTurns } from "./turns.ts";

/** What works on turns, with `patient`: trouble of the machine is waited for. */
export async function openRunner(
  context: AppContext,
  stack: AsyncDisposableStack,
  options: Containers &
    Pick<Parameters<typeof createTurns>[2], "pace" | "progress" | "deliver"> & {
      readonly approvals: Approvals;
      readonly providers: ReturnType<typeof openProviderSet>;
      readonly capabilities: Capabilities;
      readonly guard: IntakeGuard;
      readonly tell: TellOperator;
      readonly groups: GroupRegistry;
      readonly patient: AppContext;
    },
): Promise<TurnRunner> {
  const { approvals, capabilities, pace, progress, deliver, guard, patient } = options;
  const files = stack.use(await openOutgoingFiles(context));
  return createTurns(patient, options, {
    ...approvals.forTurns,
    ...capabilities.forTurns,
    pace,
    progress,
    deliver,
    providers: options.providers,
    keepFile: (group, path) => files.keep(group, path),
    ...toolsOf(context, options.groups),
    untilWritable: (until) => guard.untilWritable(until),
    ...createWords(context, options),
  });
}

/** The tools of turns, and the groups whose sessions they may look at. */
function toolsOf(
  context: AppContext,
  groups: GroupRegistry,
): Pick<Parameters<typeof createTurns>[2], "groups" | "tools"> {
  const registry = new ToolRegistry(context.adapters.tools);
  return { groups, tools: { registry, channelCan: (channel, ability) => hasTrait(context, channel, ability) } };
}

function createWords(
  context: AppContext,
  { tell, groups }: { readonly tell: TellOperator; readonly groups: GroupRegistry },
): ReplyFormats & Pick<Parameters<typeof createTurns>[2], "tellFailure"> {
  const tellFailure = createFailureNotices({ tell, groups, clock: context.clock });
  return { ...createFormats(context, tell), tellFailure };
}

function createFormats({ live, adapters, home, publish, clock, logger }: AppContext, tell: TellOperator): ReplyFormats {
  return createReplyFormats({
    secrets: () => secretsOf(live.current, adapters),
    onChange: (changed) => live.onChange(changed),
    homeFolder: home.paths.root,
    tell,
    publish,
    clock,
    logger,
  });
}
