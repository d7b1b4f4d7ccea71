/** The agent's answer that keeps the chat silent. */
export const silentAnswer = "NO_REPLY";

const thoughts = /<internal>[^]*?(?:<\/internal>|$)/gi;
const silent = new RegExp(`^[\\s\\p{P}\\p{S}]*${silentAnswer}[\\s\\p{P}\\p{S}]*$`, "u");

/**
 * Does the agent say that it has nothing to say? Only an answer that is nothing else counts; what models like to put
 * around a word, such as quotes, code ticks or a full stop, does no harm.
 */
export function isSilent(answer: string): boolean {
  return silent.test(answer.replaceAll(thoughts, ""));
}

const marksBefore = /^[\s\p{P}\p{S}]+/u;
const marksOnly = /^[\s\p{P}\p{S}]*$/u;
/** A piece may end within a character, which may become a mark. */
const halfCharacter = /[\ud800-\udbff]$/;

/** May an answer that begins like this, thoughts apart, become one that says nothing? */
export function maySilence(beginning: string): boolean {
  const said = beginning.replace(halfCharacter, "").replace(marksBefore, "");
  return (
    silentAnswer.startsWith(said) || (said.startsWith(silentAnswer) && marksOnly.test(said.slice(silentAnswer.length)))
  );
}
