import { hasTrait } from "../../config/adapters.ts";
import { secretsOf } from "../../config/loading/secrets.ts";
import { createFailureNotices } from "../../delivery/failure-notices.ts";
import type { TellOperator } from "../../delivery/operator-notices.ts";
import { createReplyFormats } from "../../delivery/reply-redaction.ts";
import type { ReplyFormats } from "../../delivery/reply-redaction.ts";
import type { IntakeGuard } from "../../intake/limits/intake-guard.ts";
import type { GroupRegistry } from "../../intake/chats/group-registry.ts";
import type { Capabilities } from "../capabilities/capabilities.ts";
import type { HostTools } from "../capabilities/group-tools.ts";
import type { Containers } from "../containers/containers.ts";
import type { AppContext } from "../context.ts";
import type { Approvals } from "../people/approvals.ts";
import { openOutgoingFiles } from "../containers/files.ts";
import type { openProviderSet } from "./models.ts";
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
      readonly hostTools: HostTools;
      readonly guard: IntakeGuard;
      readonly tell: TellOperator;
      readonly groups: GroupRegistry;
      readonly patient: AppContext;
    },
): Promise<ReturnType<typeof createTurns>> {
  const { approvals, capabilities, pace, progress, deliver, guard, patient } = options;
  const files = stack.use(await openOutgoingFiles(context));
  const turns = createTurns(patient, options, {
    ...approvals.forTurns,
    ...capabilities.forTurns,
    pace,
    progress,
    deliver,
    providers: options.providers,
    keepFile: (folder, path) => files.keep(folder, path),
    keepVoice: (group, said) => files.keepVoice(group, said),
    groups: options.groups,
    tools: { ...options.hostTools, channelCan: (channel, ability) => hasTrait(context, channel, ability) },
    untilWritable: (until) => guard.untilWritable(until),
    ...createWords(context, options),
  });
  stack.use(turns.compactions);
  return turns;
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
