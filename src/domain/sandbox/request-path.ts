/**
 * Does every server read this path the same way? Only then can be told what is below another one. Not so with `.` and
 * `..` segments, slashes, backslashes and semicolons that are written as such or escaped, `//`, escapes of escapes, and
 * what is no UTF-8. `path`: as it stands in a request, without the query.
 */
export function isCanonicalPath(path: string): boolean {
  if (!/^\/[\w\-.~!$&'()*+,=:@%/]*$/.test(path)) return false;
  const [, ...segments] = path.split("/");
  return segments.every((segment, index) => (segment === "" ? index === segments.length - 1 : isPlain(segment)));
}

function isPlain(segment: string): boolean {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    return false;
  }
  // Some servers take a full-width dot or slash for the real one.
  return [text, text.normalize("NFKC")].every((read) => !/[/\\;%?#\p{Cc}]/u.test(read) && !/^[.\s]+$/.test(read));
}

/**
 * `pattern` is a whole path, or all that begin like it up to a `*` at its end. A path that is not canonical matches
 * nothing.
 */
export function pathMatches(path: string, pattern: string): boolean {
  if (!isCanonicalPath(path)) return false;
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}
