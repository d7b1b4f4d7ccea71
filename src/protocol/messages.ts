import * as z from "zod";

import { limits } from "./limits.ts";
import { givenPage } from "./pages.ts";
import { fileNamePattern } from "./paths.ts";
import { announcedTool } from "./tools.ts";
import { protocolVersion } from "./version.ts";

const turn = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const callId = z.string().min(1).max(256);
const directory = z.string().min(1).max(4_096);
const counter = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A script that a command runs, by the digest of its bytes when people were asked; without one it was missing. */
const script = z.strictObject({ path: directory, sha256: z.hash("sha256").optional() });

/** Scripts of a command that are looked at. */
export const maxScripts = 8;

/**
 * A command that people have allowed: it runs in a fresh shell, in this folder (by default the one that shells start
 * in), and only if its scripts are what they were.
 */
export const allowedRun = z.strictObject({
  directory: directory.optional(),
  scripts: z.array(script).max(maxScripts).optional(),
});

export type AllowedRun = z.infer<typeof allowedRun>;

export const toolCall = z.strictObject({
  id: callId,
  name: z.string().min(1).max(128),
  input: z.unknown(),
  approved: allowedRun.optional(),
});

/** Beginning of a script, for people. */
export const scriptChars = 1_000;

const shownScript = script.extend({
  /** Left out where it is no text. */
  beginning: z.string().max(scriptChars).optional(),
  bytes: counter.optional(),
});

export type ShownScript = z.infer<typeof shownScript>;

/** A part of a result that is no text: a file in the agent's folder `files`, which the host takes away. */
export const filePart = z.strictObject({
  kind: z.literal("image"),
  file: z.string().regex(fileNamePattern),
  /** Display name. */
  name: z.string().max(256),
});

/** Name of a background job: made at random by the agent, so that no other job of the session has or had it. */
export const jobId = z.string().regex(/^job-[0-9][0-9a-z]{5,11}$/);

/** Maximum background jobs of a container, and their maximum duration. */
export const jobLimits = z.strictObject({
  atOnce: z.number().int().min(0).max(limits.jobs),
  seconds: z.number().positive().max(limits.jobSeconds),
});

export type JobLimits = z.infer<typeof jobLimits>;

export type FilePart = z.infer<typeof filePart>;

export const toolResult = z.strictObject({
  callId,
  output: z.string().max(limits.toolOutputChars + 2_000),
  isError: z.boolean(),
  /** Parts after the output, in order. */
  parts: z.array(filePart).max(limits.resultParts).optional(),
});

export type AgentToolResult = z.infer<typeof toolResult>;

/** Findings of the probe in the container. The probe lists the names of its checks. */
export const probeReport = z.strictObject({
  uid: z.number().int(),
  gid: z.number().int(),
  groups: z.array(z.number().int()).max(64),
  capabilities: z.record(z.string().max(16), z.string().max(32)),
  noNewPrivs: z.number().int(),
  seccomp: z.number().int(),
  interfaces: z.array(z.string().max(32)).max(64),
  rootReadOnly: z.boolean(),
  mounts: z
    .array(
      z.strictObject({
        target: z.string().max(4096),
        readOnly: z.boolean(),
        type: z.string().max(64),
        options: z.string().max(1024),
      }),
    )
    .max(256),
  environment: z.array(z.string().max(256)).max(256),
  /** Forbidden things that were tried: `refused` with the error's name, or `open` when one worked. */
  attempts: z
    .array(
      z.strictObject({ name: z.string().max(64), outcome: z.enum(["refused", "open"]), detail: z.string().max(200) }),
    )
    .max(128),
});

export type ProbeReport = z.infer<typeof probeReport>;

/** Host → agent. */
export const hostPayload = z.discriminatedUnion("type", [
  /**
   * Begin (or, after a container died, go on with) a turn: ask for a model answer. `tools` are those that this turn may
   * call.
   */
  z.strictObject({
    type: z.literal("turn-start"),
    turn,
    resumed: z.boolean(),
    tools: z.array(announcedTool).max(limits.tools),
    /** Left out: no command may run in the background as a job. */
    jobs: jobLimits.optional(),
  }),
  /** The model's answer after policy: only calls that may run. */
  z.strictObject({
    type: z.literal("model-response"),
    turn,
    request: counter,
    text: z.string(),
    toolCalls: z.array(toolCall).max(limits.toolResults),
    /** Somebody watches: what these calls print is wanted while they run. */
    outputs: z.boolean().optional(),
  }),
  /** The model could not be asked; the host has ended or will end the turn. */
  z.strictObject({ type: z.literal("model-failure"), turn, request: counter, reason: z.string() }),
  z.strictObject({
    type: z.literal("tool-response"),
    turn,
    callId,
    output: z.string(),
    isError: z.boolean(),
    /** A page whose text follows the output. */
    page: givenPage.optional(),
  }),
  /** Stop what runs for this turn and end it. */
  z.strictObject({ type: z.literal("cancel"), turn, reason: z.string() }),
  /** Asks about these scripts, whose paths are relative to the folder. Answered at once. */
  z.strictObject({
    type: z.literal("script-request"),
    turn,
    request: counter,
    directory: directory.optional(),
    paths: z.array(directory).max(maxScripts),
  }),
  /** Are you there? Answered at once, whatever the turn is busy with. */
  z.strictObject({ type: z.literal("ping"), turn }),
  /** End this background job; it is reported as `stopped`. */
  z.strictObject({ type: z.literal("job-stop"), job: jobId }),
  /** End the process in good order. */
  z.strictObject({ type: z.literal("shutdown") }),
]);

/** Agent → host. */
export const agentPayload = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready"), probe: probeReport }),
  /** Results of the calls of the last answer (none at the start); the host adds what else is new and asks the model. */
  z.strictObject({
    type: z.literal("model-request"),
    turn,
    append: z.array(toolResult).max(limits.toolResults),
    /** Present folder of the session's shell, without links; left out where its name is not text. */
    directory: directory.optional(),
  }),
  z.strictObject({ type: z.literal("scripts"), turn, request: counter, scripts: z.array(shownScript).max(maxScripts) }),
  /** A tool that only the host can run. */
  z.strictObject({
    type: z.literal("tool-request"),
    turn,
    callId,
    name: z.string().min(1).max(128),
    input: z.unknown(),
  }),
  /** A sign of life during long work, such as a tool that has begun; shown to the operator. */
  z.strictObject({ type: z.literal("progress"), turn, text: z.string().max(500) }),
  /** Live output of a tool while somebody watches. Pieces may be missing: the result has the whole. */
  z.strictObject({ type: z.literal("tool-output"), turn, callId, text: z.string().max(limits.outputPieceChars) }),
  z.strictObject({ type: z.literal("pong"), turn }),
  z.strictObject({
    type: z.literal("turn-end"),
    turn,
    outcome: z.enum(["done", "failed", "cancelled"]),
    text: z.string().max(limits.textChars),
  }),
  /** A command goes on in the background, whatever becomes of the turn that it was called in. */
  z.strictObject({
    type: z.literal("job-started"),
    turn,
    job: jobId,
    command: z.string().max(limits.jobCommandChars),
  }),
  /** It is over, with the end of what it printed. `toldModel`: it was ended by a tool call, so the model knows. */
  z.strictObject({
    type: z.literal("job-ended"),
    job: jobId,
    outcome: z.enum(["exited", "stopped", "expired"]),
    exitCode: z.number().int().min(0).max(255).optional(),
    output: z.string().max(limits.jobOutputChars),
    toldModel: z.boolean(),
  }),
  z.strictObject({
    type: z.literal("log"),
    level: z.enum(["debug", "info", "warn", "error"]),
    text: z.string().max(4_000),
  }),
]);

const envelope = { version: z.literal(protocolVersion), id: counter, generation: counter, acked: counter };

/** Envelope: `id` is also the file's name; `acked` is the highest id of the other side that has been handled. */
export const hostMessage = z.strictObject({ ...envelope, payload: hostPayload });
export const agentMessage = z.strictObject({ ...envelope, payload: agentPayload });

export type HostPayload = z.infer<typeof hostPayload>;
export type AgentPayload = z.infer<typeof agentPayload>;
export type ModelRequest = Extract<AgentPayload, { type: "model-request" }>;
export type HostMessage = z.infer<typeof hostMessage>;
export type AgentMessage = z.infer<typeof agentMessage>;
