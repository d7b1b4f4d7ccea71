import { AppError, toError } from "../../src/lib/app-error.ts";
import { canMakeDebianImage, debianImageTag, makeDebianImage } from "./debian-image.ts";
import { readRecipe, type SetupContext } from "./recipe.ts";
import { say } from "./say.ts";

/** A registry that is there sends something within a few seconds; one behind a dead network never does. */
const pullStallMs = 20_000;

export interface BaseImage {
  readonly reference: string;
  readonly id: string;
}

/**
 * The image that the agent image is made from: CRABPOT_BASE_IMAGE where it is set; otherwise the one that the
 * Dockerfile names, pulled if need be; where no registry can be reached, one of Debian made on this machine, which then
 * stays in use.
 */
export async function ensureBaseImage(context: SetupContext): Promise<BaseImage> {
  const recipe = await readRecipe(context.checkoutFolder);
  const wanted = context.env["CRABPOT_BASE_IMAGE"];
  if (wanted) return (await present(context, wanted)) ?? (await pulledAsWanted(context, wanted));

  const madeHere = await debianImageTag(context, recipe.packages);
  const found = (await present(context, recipe.baseImage)) ?? (await present(context, madeHere));
  if (found) return found;
  try {
    return await pulled(context, recipe.baseImage);
  } catch (thrown) {
    const failure = toError(thrown);
    say(`base image: ${failure.message}`);
    if (!(await canMakeDebianImage(context))) throw noWay(recipe.baseImage, failure);
    say(`base image: making one of Debian instead (${madeHere}); this takes some minutes`);
    await makeDebianImage(context, madeHere, recipe.packages);
    return needed(context, madeHere);
  }
}

async function pulledAsWanted(context: SetupContext, reference: string): Promise<BaseImage> {
  try {
    return await pulled(context, reference);
  } catch (cause) {
    const words = `CRABPOT_BASE_IMAGE could not be obtained. ${toError(cause).message}`;
    throw new AppError("setup_required", words, {
      cause,
      fix: `docker pull ${reference}; or unset CRABPOT_BASE_IMAGE`,
    });
  }
}

async function present({ engine }: SetupContext, reference: string): Promise<BaseImage | undefined> {
  const image = await engine.image(reference);
  return image && { reference, id: image.id };
}

async function needed(context: SetupContext, reference: string): Promise<BaseImage> {
  const image = await present(context, reference);
  if (image) return image;
  throw new AppError("setup_required", `The engine says that it has ${reference}, but does not find it.`);
}

async function pulled(context: SetupContext, reference: string): Promise<BaseImage> {
  say(`base image: pulling ${reference} …`);
  await context.builder.pull(reference, pullStallMs, (line) => {
    // Each layer reports its bytes many times a second.
    if (!/ (Downloading|Extracting|Waiting)/.test(line)) say(`  ${line}`);
  });
  return needed(context, reference);
}

function noWay(reference: string, cause: Error): AppError {
  const words = `${reference} cannot be pulled, and only root on Debian or Ubuntu can make a base image.`;
  return new AppError("setup_required", words, {
    cause,
    fix: "run it where a registry can be reached, or as root, or with CRABPOT_BASE_IMAGE=<a Debian image with Node 24>",
  });
}
