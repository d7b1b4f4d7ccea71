import type { NewApproval } from "../../../domain/rights/approval.ts";
import type { FormField } from "../../../domain/rights/form.ts";
import { plainSentence, quotedName } from "../../../lib/text/plain-words.ts";
import { writeOut } from "../../../lib/text/write-out.ts";
import { inMinutes } from "../card.ts";

/** Fields to fill in, or an address to open. */
export type FormWanted = { readonly fields: readonly FormField[] } | { readonly url: string };

/** A form as it is kept with its approval. */
export type KeptForm = FormWanted & { readonly server: string; readonly message: string };

/** Asks a chat. The server's text stands in a separate block, so that it cannot imitate anyone. */
export function formCard(approval: NewApproval, form: KeptForm, minutes: number): string {
  const { code, asker, tool } = approval;
  return [
    `The MCP server ${plainSentence(form.server)} asks, for its tool ${plainSentence(tool)} and ${quotedName(asker.name)}. Code ${code}`,
    "```",
    writeOut(form.message),
    "```",
    ...("fields" in form ? form.fields.map(describeField) : [`It wants you to open: ${form.url}`, "I do not open it."]),
    `The server ${plainSentence(form.server)} asks this, not me, and it gets the answer: never a password or code.`,
    `${howToAnswer(code, form)} No answer within ${inMinutes(minutes)} counts as a no.`,
  ].join("\n");
}

function howToAnswer(code: string, form: FormWanted): string {
  const said =
    "fields" in form && form.fields.length > 0 ? form.fields.map(({ name }) => `${name}=…`).join(" ") : "yes";
  return `The person who asked me, or an admin, can answer: reply to this, or write /answer ${code} ${said}, or /answer ${code} decline (or cancel).`;
}

function describeField({ name, kind, label, required, options, default: usual, ...limits }: FormField): string {
  const choices = options?.map(({ value, label: seen }) =>
    seen === "" ? plainSentence(value) : `${plainSentence(value)} (${seen})`,
  );
  const { least, most, format } = limits;
  const words = {
    text: format ?? "text",
    number: "number",
    integer: "whole number",
    boolean: "yes or no",
    choice: "one of",
    choices: "some of",
  };
  const facts = [
    `${words[kind]}${choices ? ` ${choices.join(", ")}` : ""}`,
    ...(least === undefined ? [] : [`at least ${least}`]),
    ...(most === undefined ? [] : [`at most ${most}`]),
    ...(usual === undefined ? [] : [`default: ${plainSentence(String(usual))}`]),
    ...(required || usual !== undefined ? [] : ["optional"]),
  ];
  return `- ${name}${label === "" ? "" : ` (“${label}”)`}: ${facts.join("; ")}`;
}
