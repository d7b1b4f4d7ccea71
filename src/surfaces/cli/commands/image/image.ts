import type { Command } from "commander";
import type * as z from "zod";

import { describePackages } from "../../../../domain/sandbox/packages.ts";
import { formatBytes } from "../../../../lib/text/bytes.ts";
import { visible } from "../../../../lib/text/visible.ts";
import type { Operation } from "../../../../operations/definition/define-operation.ts";
import {
  buildImages,
  type ImageNeeds,
  type ImageView,
  listImages,
  pruneImages,
} from "../../../../operations/images/operations.ts";
import { addLeaf, type CommandContext } from "../../context.ts";
import { isWithoutHost } from "../../../../lib/process/control-socket.ts";
import { formatTime } from "../../../../lib/time/formats.ts";
import { invokeHere } from "../../invoke-here.ts";
import type { Column } from "../../../../operations/definition/cli-leaf.ts";

/** With a host through it, so that it is on record and takes effect; without one on the engine itself. */
export function addImageCommand(program: Command, context: CommandContext): void {
  const image = program.command("image").description("build, list and prune images with packages");
  addBuild(image, context);
  addList(image, context);
  addPrune(image, context);
}

function addBuild(image: Command, context: CommandContext): void {
  addLeaf(image, "build", "build missing images of groups; exit 1 if one fails")
    .option("--group <group>", "only for this group")
    .action(async ({ group }: { group?: string }, command: Command) => {
      const output = context.outputOf(command);
      const built = await runImageOperation(context, buildImages, { group });
      for (const one of built) {
        if (one.state !== "ready") context.exitCode = 1;
        if (output.json) output.object(one);
        const why = one.reason === undefined ? "" : `: ${visible(one.reason)}`;
        output.line(`${one.group}: ${one.image} ${one.state}${why}`, one.state === "ready" ? "good" : "bad");
      }
      if (built.length === 0)
        output.line(group === undefined ? "No group has packages." : `The group ${group} has no packages.`);
    });
}

const columns: readonly Column<ImageView>[] = [
  { title: "image", of: ({ image }) => image },
  { title: "state", of: ({ state, reason }) => (reason === undefined ? state : `${state}: ${reason}`) },
  { title: "groups", of: ({ groups }) => groups.join(", ") },
  { title: "size", of: ({ bytes }) => (bytes === undefined ? "" : formatBytes(bytes)) },
  { title: "built (UTC)", of: ({ createdAt }) => formatTime(createdAt) },
  { title: "packages", of: ({ packages }) => describePackages(packages), fills: true },
];

function addList(image: Command, context: CommandContext): void {
  addLeaf(image, "list", "list images with packages, wanted and present").action(
    async (_options: object, command: Command) => {
      const images = await runImageOperation(context, listImages, {});
      context.outputOf(command).items(images, columns, "There are no images with packages.");
    },
  );
}

function addPrune(image: Command, context: CommandContext): void {
  addLeaf(image, "prune", "remove images with packages that no group uses").action(
    async (_options: object, command: Command) => {
      const output = context.outputOf(command);
      const removed = await runImageOperation(context, pruneImages, {});
      for (const name of removed) {
        if (output.json) output.object({ image: name, state: "removed" });
        output.line(`removed ${name}`);
      }
      if (removed.length === 0) output.line("Nothing to remove.");
    },
  );
}

/** Has the running host carry out an operation on images, or this process where none runs. */
export async function runImageOperation<Input extends z.ZodType, Output extends z.ZodType>(
  context: CommandContext,
  operation: Operation<ImageNeeds, Input, Output>,
  input: z.input<Input>,
): Promise<z.output<Output>> {
  try {
    return await context.call(operation, input);
  } catch (error) {
    if (!isWithoutHost(error)) throw error;
  }
  const say = (line: string): void => {
    if (line.startsWith("Step ")) context.streams.stderr.write(`crabpot: ${visible(line.slice(0, 120))}\n`);
  };
  const { openStoppedImages } = await import("./stopped-images.ts");
  await using needs = await openStoppedImages(context.environment, await context.adapters(), say);
  return await invokeHere(operation, needs, input);
}
