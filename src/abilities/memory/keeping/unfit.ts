import { plainForm } from "../../../lib/text/plain-form.ts";
import { isSecret } from "./secrets.ts";

/** Kinds of forbidden memories. */
export type Unfit = "secret" | "instruction";

const you = "(?:you|the (?:assistant|agent|bot|model|ai))";
const actions =
  "(?:answer|reply|respond|run|execute|send|forward|obey|approve|allow|trust|ask|tell|reveal|do what|follow|say|comply|accept|grant|treat)";
const role = "(?:an? |the |your |our |my )?(?:admin(?:istrator)?s?|operator|superuser|root)";

const instructions: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules?|prompts?|polic(?:y|ies)|guidelines?|restrictions?|safety)\b/i,
  new RegExp(`\\b${you} (?:must|shall|should|have to|has to|may now|are now|is now|will (?:always|never|now))\\b`, "i"),
  new RegExp(`\\b(?:from now on|henceforth|in future|whenever asked)\\b.{0,60}\\b${you}\\b`, "i"),
  /\b(?:from now on|henceforth)\b[,:]? (?:always|never|do|don'?t|send|reply|answer|run|act|obey|allow|approve|treat|call|forward)\b/i,
  new RegExp(`^\\W{0,3}(?:please |remember(?: to)?[,:]? )?(?:always|never) ${actions}\\b`, "i"),
  /\b(?:always|never) (?:approve|allow|obey|execute|comply|grant|ask for (?:an? )?(?:approval|permission))\b/i,
  // Who may do what stands in the configuration; a memory that says so could only mislead.
  new RegExp(
    `\\b(?:is|are|becomes?|counts? as|acts? as|made|treat(?:ed)? as)(?: now| also)? ${role}\\b(?! of the (?!group|chat|bot|agent|host))`,
    "i",
  ),
  /\b(?:has|have|gets?|was given|is given) (?:the )?(?:full |all )?(?:admin|operator|owner|root)(?:'?s)? (?:rights|permissions?|access|privileges)\b/i,
  /\b(?:needs?|requires?) no (?:approval|permission|confirmation)\b/i,
  /\b(?:system|developer) (?:prompt|message|instruction)s?\b/i,
  /\bwithout (?:asking|approval|permission|confirmation)\b/i,
  /<\/?\s*(?:system|instructions?|assistant|tool|host-note|messages?|memor(?:y|ies))\b/i,
];

/** The same in simplified and traditional Chinese. */
const hanYou = "(?:你|您|助手|助理|机器人|機器人|模型|智能[体體]|AI)";
const hanMust =
  "(?:必[须須]|[务務]必|一律|永[远遠]|始[终終]|只能|不得|不[准許许]|不要|[应應][该該當当]|都要|都得|要[总總永]|[总總]是要)";
const hanRule = "(?:指[令示]|[规規][则則定矩]|提示[词詞]?|要求|限制|[设設]定|[约約]束|政策|准[则則])";
const hanConsent = "(?:批准|[审審]批|[许許]可|[确確][认認]|授[权權]|同意)";

const hanInstructions: readonly RegExp[] = [
  new RegExp(`(?:忽略|[无無][视視]|忘[记記掉]|不要理[会會]|[违違]反|[绕繞][过過]|跳[过過])[^。\\n]{0,20}${hanRule}`),
  new RegExp(`${hanYou}(?:以[后後]|今[后後]|[现現]在|[从從][现現]在起|[从從]此)?(?:都|就)?${hanMust}`),
  new RegExp(
    `(?:[从從][现現]在(?:起|[开開]始)|[从從]今(?:以[后後]|往[后後])|[从從]此|今[后後]|以[后後])[^。\\n]{0,20}(?:${hanYou}|${hanMust})`,
  ),
  new RegExp(
    `^[^\\p{L}]{0,3}(?:[请請]|[记記]住[:,，]?)?(?:永[远遠]|[务務]必|一律|[总總]是)(?:不要|都|要)?(?:批准|同意|[执執]行|服[从從]|[听聽][从從]|答[应應]|回[复復]|[发發]送|允[许許])`,
    "u",
  ),
  /(?:是|成[为為]|[当當]|算|[升设設][为為])(?:了|本群|[这這][个個]群|群里?|机器人|機器人|系[统統])?的?(?:管理[员員]|[超][级級]用[户戶]|操作[员員]|root)(?!的)/,
  /(?:有|[获獲]得|拥有|擁有|[给給]予?)了?(?:全部|所有|完整|最高)?的?(?:管理[员員]?|最高|root|超[级級])[权權]限/,
  new RegExp(
    `(?:不需要?|[无無]需|不用|不必|[无無][须須]|不[经經])(?:任何|再|[经經][过過]|[请請]求|[征徵]求|先)*(?:[询詢][问問]|[问問]|${hanConsent})`,
  ),
  new RegExp(
    `(?:不要|[别別]|永不|[从從]不)(?:再|去)?(?:[请請]求|[征徵]求|要求|申[请請]|[询詢][问問])[^。\\n]{0,8}${hanConsent}`,
  ),
  /系[统統](?:提示[词詞]?|指令)/,
];

/**
 * Returns why a text must not become a fact: a secret, or an instruction to the agent instead of a statement. By
 * patterns: refuses in doubt, and cannot find everything. Undefined when allowed.
 */
export function unfit(text: string): Unfit | undefined {
  if (isSecret(text)) return "secret";
  const plain = plainForm(text);
  const isOne = (pattern: RegExp): boolean => pattern.test(plain);
  return instructions.some(isOne) || hanInstructions.some(isOne) ? "instruction" : undefined;
}
