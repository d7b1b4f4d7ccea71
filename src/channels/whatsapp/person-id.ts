/** With the country code, which never begins with 0; as long as numbers are anywhere. */
const number = /^\+([1-9]\d{5,14})$/;
const numbered = /^([1-9]\d{5,14})@s\.whatsapp\.net$/;
const person = /^\d+@(?:lid|s\.whatsapp\.net)$/;
/** Digits as people write phone numbers. */
const digitsApart = /^\+?[\d\s().\-/\u00a0\u2010-\u2015\u202f]*$/u;

/** `+15551234567` → `15551234567@s.whatsapp.net`, which is how messages say it; anything else as it is. */
export function personOfNumber(id: string): string {
  const [, digits] = number.exec(id) ?? [];
  return digits === undefined ? id : `${digits}@s.whatsapp.net`;
}

/** The other way round; undefined for a LID. */
export function numberOfPerson(id: string): string | undefined {
  const [, digits] = numbered.exec(id) ?? [];
  return digits === undefined ? undefined : `+${digits}`;
}

/** Returns why this is no WhatsApp id, as the end of a sentence; undefined when valid. */
export function personFault(id: string): string | undefined {
  if (person.test(id) || number.test(id)) return undefined;
  const digits = id.replaceAll(/\D/g, "");
  if (!digitsApart.test(id) || digits === "") {
    return "is not the id of a person: write the phone number as +15551234567, or what /whoami says in a chat (…@lid)";
  }
  if (number.test(`+${digits}`)) return `has to be written +${digits}, if that is the number with its country code`;
  return "is no phone number with a country code: write + and 6 to 15 digits, the first of which is no 0, such as +15551234567";
}
