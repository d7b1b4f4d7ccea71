import { months } from "./indexed-text.ts";

const digits = "一二三四五六七八九";
const number = `\\d{1,2}|[${digits}十]{1,3}`;
const chinese = new RegExp(`(${number})月(?:份|(${number})[日号號])?`, "gu");
const iso = /(?<!\d)\d{4}[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?!\d)/g;

/** Dates of a query, as they stand before memories: `三月五号`, `3月5日` and `2026-03-05` ask for `5 March`. */
export function datesIn(query: string): string {
  const plain = query.normalize("NFKC");
  const dates = [...plain.matchAll(chinese), ...plain.matchAll(iso)].map(([, month = "", day]) => {
    const name = months[toNumber(month) - 1] ?? "";
    return name === "" || day === undefined ? name : `${toNumber(day)} ${name}`;
  });
  return dates.join(" ");
}

/** Also of Chinese ones up to 99. */
function toNumber(text: string): number {
  if (/^\d/.test(text)) return Number(text);
  const [tens, ones] = text.includes("十") ? text.split("十") : ["0", text];
  const ten = tens === "" ? 1 : digits.indexOf(tens ?? "") + 1;
  return ten * 10 + digits.indexOf(ones || "零") + 1;
}
