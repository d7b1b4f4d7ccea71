import type * as z from "zod";

import type { Actor } from "../../domain/people/actor.ts";
import type { Role } from "../../domain/people/role.ts";
import type { GroupThing } from "../../domain/rights/may-act.ts";
import type { AnyChatForm, ChatForm } from "./chat-form.ts";
import type { AnyCliLeaf, CliLeaf } from "./cli-leaf.ts";

/** Rights of a caller: `read` sees everything, `admin` changes it, too. */
export type Scope = "read" | "admin";

/** Effect of an operation: none, a change, or something irreversible. */
export type Effect = "none" | "change" | "destroy";

/** Parameters as they go on record. */
export type Recordable = Readonly<Record<string, string | number | boolean>>;

/** A member who asks in the chat of their group. */
export interface AskingMember {
  readonly group: string;
  /** Their group is a main one. */
  readonly isMain: boolean;
  readonly role: Role;
  /** Keys by which they are known, as `channel:id`; the one that they ask by comes first. */
  readonly keys: readonly string[];
}

/** The caller, and a signal for the deadline. */
export interface OperationCall {
  readonly actor: Actor;
  /** Absent: an operator. */
  readonly member?: AskingMember | undefined;
  /** Time of the request, the same when it is carried out again; absent: now. */
  readonly requestedAt?: number | undefined;
  /** Aborted when the caller has left. */
  readonly signal: AbortSignal;
}

/** Rights that an operation takes, and the owner of the thing it is about. Judged by `invoke` alone. */
export interface May<Needs, Input> {
  /** Needed by operators and their programs. */
  readonly scope: Scope;
  /** The least role of a member who asks in their group's chat; absent: operators only. */
  readonly role?: Role | undefined;
  /** Returns the group whose thing it is; absent: the one in the parameter `group`. Rejects with `not_found`. */
  of?(needs: Needs, input: Input): Promise<string>;
  /** The least role of a member of a main group who does it with things of other groups; absent: nobody does. */
  readonly fromMain?: Role | undefined;
  /** Returns whose the thing is; they need no role. Absent: the role alone counts. */
  own?(needs: Needs, input: Input): Promise<GroupThing["lineage"]>;
  /** Told to members who lack the role. */
  readonly refusal?: string | undefined;
}

interface Common<Needs, Input extends z.ZodType, Output extends z.ZodType> {
  /** `noun.verb`, such as `tasks.pause`; also on record. */
  readonly name: string;
  /** A short sentence without a full stop: for the help of commands, and for programs. */
  readonly summary: string;
  /** Strict: an unknown parameter is refused. */
  readonly input: Input;
  readonly output: Output;
  readonly may: May<Needs, z.output<Input>>;
  readonly effect: Effect;
  /**
   * Takes the same parameters and shows what would be done. The command shows that first without `--yes`, which then is
   * needed where nobody can be asked.
   */
  readonly preview?: AnyOperation | undefined;
  /** Method and path below `/v1`, with parameters in braces; absent: not over HTTP. */
  readonly rest?: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}` | undefined;
  /** Parameters that a request over HTTP sets, instead of its caller. */
  readonly restSets?: Partial<z.input<Input>> | undefined;
  /** Name of the list in HTTP answers. */
  readonly listAs?: string | undefined;
  /**
   * `true`: the command line does it itself where no host runs. `files`: it does so also while one runs, as it is about
   * files of the home.
   */
  readonly offline?: true | "files" | undefined;
  /** May take minutes: the caller waits as long as the host lives. */
  readonly isLong?: true | undefined;
  /** Recorded parameters, without secrets; by default all but texts. */
  readonly record?: ((input: z.output<Input>) => Recordable) | undefined;
}

interface Surfaces<Cli, Chat> {
  /** Its command, or several that each set some of the parameters; absent: it is written by hand. */
  readonly cli?: Cli | readonly Cli[] | "none" | undefined;
  /** Its form in the chat of a group, or several; absent: not in chats. */
  readonly chat?: Chat | readonly Chat[] | undefined;
}

/** A piece of a stream over HTTP: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export interface ServerSentEvent {
  readonly id?: number;
  readonly event?: string;
  readonly data: object;
}

interface Runs<Needs, Input extends z.ZodType, Output extends z.ZodType> extends Common<Needs, Input, Output> {
  readonly run: (needs: Needs, input: z.output<Input>, call: OperationCall) => Promise<z.input<Output>>;
  readonly follow?: undefined;
}

interface Follows<Needs, Input extends z.ZodType, Output extends z.ZodType> extends Common<Needs, Input, Output> {
  readonly run?: undefined;
  readonly follow: (needs: Needs, input: z.output<Input>, call: OperationCall) => AsyncIterable<z.input<Output>>;
  /** A piece over HTTP; absent: data alone. */
  readonly sent?: ((piece: z.output<Output>) => ServerSentEvent) | undefined;
}

/**
 * An action of an operator: the control socket, the command line and HTTP are made from it. Needs are the parts of the
 * host that it works with.
 */
export interface Operation<Needs = never, Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType>
  extends Runs<Needs, Input, Output>, Surfaces<AnyCliLeaf, AnyChatForm> {}

/** The same where the answer comes in pieces, each of which is an output. */
export interface StreamOperation<
  Needs = never,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
>
  extends Follows<Needs, Input, Output>, Surfaces<AnyCliLeaf, AnyChatForm> {}

/** Any operation, whatever it needs. */
export type AnyOperation = Operation | StreamOperation;

/** The needs of an operation. */
export type NeedsOf<Defined> =
  Defined extends Operation<infer Needs, infer _Input, infer _Output>
    ? Needs
    : Defined extends StreamOperation<infer Needs, infer _In, infer _Out>
      ? Needs
      : never;

/** All members of a union at once: the needs of several definitions together. */
export type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  each: infer All,
) => void
  ? All
  : never;

/** Defines an operation: `defineOperation<Needs>()({ … })`. */
export function defineOperation<Needs>() {
  return <Input extends z.ZodType, Output extends z.ZodType>(
    definition: Runs<Needs, Input, Output> & Surfaces<CliLeaf<Input, Output>, ChatForm<Input, Output>>,
  ): Operation<Needs, Input, Output> => definition;
}

/** Defines an operation whose answer comes in pieces. */
export function defineStream<Needs>() {
  return <Input extends z.ZodType, Output extends z.ZodType>(
    definition: Follows<Needs, Input, Output> & Surfaces<CliLeaf<Input, Output>, ChatForm<Input, Output>>,
  ): StreamOperation<Needs, Input, Output> => definition;
}
