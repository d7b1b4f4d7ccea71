import { describePackages } from "../../../../../domain/sandbox/packages.ts";
import { formatBytes } from "../../../../../lib/text/bytes.ts";
import { ownCommand } from "../../../../../lib/process/own-command.ts";
import { AppError } from "../../../../../lib/app-error.ts";
import type { CommandContext } from "../../../context.ts";
import { listImages } from "../../../../../operations/images/operations.ts";
import { type CheckResult, good, warning } from "../check.ts";

/** Whether the packages that groups ask for are there. */
export async function checkPackages(context: CommandContext): Promise<CheckResult[]> {
  if (!(await context.checkConfig()).ok) return [];
  try {
    const images = await context.call(listImages, {});
    const missing = images.filter(({ state }) => state !== "ready" && state !== "unused");
    const unused = images.filter(({ state }) => state === "unused");
    const faults = missing.map(({ groups, packages, state, reason }) => {
      const why = reason === undefined ? `it is ${state === "building" ? "being built" : "not built"}` : reason;
      const text = `The image of ${groups.join(", ")} is missing (${describePackages(packages)}): ${why}`;
      return warning("packages", text, ownCommand("image build"));
    });
    if (unused.length > 0) {
      const bytes = unused.reduce((sum, image) => sum + (image.bytes ?? 0), 0);
      const text = `${unused.length} images with packages are unused (${formatBytes(bytes)} including shared layers).`;
      faults.push(warning("packages", text, ownCommand("image prune")));
    }
    if (faults.length > 0) return faults;
    const ready = images.length;
    return [good("packages", ready === 0 ? "No group has packages." : `${ready} images with packages exist.`)];
  } catch (error) {
    // The check of the engine says why.
    if (error instanceof AppError && ["image_missing", "engine_unavailable", "setup_required"].includes(error.code))
      return [];
    throw error;
  }
}
