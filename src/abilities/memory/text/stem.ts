const consonant = "[^aeiou]";
const vowel = "[aeiouy]";
const consonants = `${consonant}[^aeiouy]*`;
const vowels = `${vowel}[aeiou]*`;
/** A stem with at least one, exactly one, or more than one pair of vowels and consonants. */
const atLeastOne = new RegExp(`^(${consonants})?${vowels}${consonants}`);
const exactlyOne = new RegExp(`^(${consonants})?${vowels}${consonants}(${vowels})?$`);
const moreThanOne = new RegExp(`^(${consonants})?${vowels}${consonants}${vowels}${consonants}`);
const hasVowel = new RegExp(`^(${consonants})?${vowel}`);
const endsShort = new RegExp(`^${consonants}${vowel}[^aeiouwxy]$`);

/** Longer ones first where one ends like another. */
const longSuffixes: readonly (readonly [RegExp, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"],
  ["logi", "log"],
].map(([suffix = "", to = ""]) => [new RegExp(`${suffix}$`), to]);

const middleSuffixes: readonly (readonly [RegExp, string])[] = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""],
].map(([suffix = "", to = ""]) => [new RegExp(`${suffix}$`), to]);

const lastSuffix = /(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/;

/**
 * Porter's algorithm: `connected`, `connecting` and `connections` become `connect`. For lower-case ASCII; other words
 * stay as they are. Takes time in proportion to the length of the word.
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  // A y at the beginning is a consonant, and must not be seen as a vowel on the way.
  const guarded = word.startsWith("y") ? `Y${word.slice(1)}` : word;
  let stemmed = withoutPlural(guarded);
  stemmed = withoutPast(stemmed);
  if (stemmed.endsWith("y") && hasVowel.test(stemmed.slice(0, -1))) stemmed = `${stemmed.slice(0, -1)}i`;
  stemmed = replaceSuffix(stemmed, longSuffixes);
  stemmed = replaceSuffix(stemmed, middleSuffixes);
  stemmed = withoutEnd(stemmed);
  return stemmed.startsWith("Y") ? `y${stemmed.slice(1)}` : stemmed;
}

function withoutPlural(word: string): string {
  if (/(?:ss|i)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutPast(word: string): string {
  if (word.endsWith("eed")) return atLeastOne.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const begin = /^(.+?)(?:ed|ing)$/.exec(word)?.[1];
  if (begin === undefined || !hasVowel.test(begin)) return word;
  if (/(?:at|bl|iz)$/.test(begin)) return `${begin}e`;
  if (/([^aeiouylsz])\1$/.test(begin)) return begin.slice(0, -1);
  return endsShort.test(begin) ? `${begin}e` : begin;
}

function replaceSuffix(word: string, suffixes: readonly (readonly [RegExp, string])[]): string {
  const found = suffixes.find(([suffix]) => suffix.test(word));
  if (found === undefined) return word;
  const begin = word.replace(found[0], "");
  return atLeastOne.test(begin) ? begin + found[1] : word;
}

function withoutEnd(word: string): string {
  let stemmed = word;
  const suffix = lastSuffix.exec(word)?.[0];
  if (suffix !== undefined) {
    const begin = word.slice(0, -suffix.length);
    if (moreThanOne.test(begin)) stemmed = begin;
  } else if (/[st]ion$/.test(word) && moreThanOne.test(word.slice(0, -3))) {
    stemmed = word.slice(0, -3);
  }
  if (stemmed.endsWith("e")) {
    const begin = stemmed.slice(0, -1);
    if (moreThanOne.test(begin) || (exactlyOne.test(begin) && !endsShort.test(begin))) stemmed = begin;
  }
  return stemmed.endsWith("ll") && moreThanOne.test(stemmed) ? stemmed.slice(0, -1) : stemmed;
}
