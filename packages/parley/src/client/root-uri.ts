/** A query, a fragment and separators that only some readers see: with them, one text is several paths. */
const AMBIGUOUS = /[?#\\]|%2f|%5c/i;

/**
 * Whether a text is the URI of a folder that can be shown to a server (ROOT-04): `file:///`, an absolute path of this
 * machine, and nothing by which a reader could come out elsewhere (ROOT-05). Another host, `.` and `..` in any
 * spelling, controls, backslashes and encoded separators are none of that; `pathToFileURL` gives none of them.
 */
export function isRootUri(text: string): boolean {
  if (!/^file:\/\/\//i.test(text) || !URL.canParse(text) || AMBIGUOUS.test(text)) return false;
  let path: string;
  try {
    path = decodeURIComponent(text.slice('file://'.length));
  } catch {
    return false;
  }
  return !/\p{Cc}/u.test(path) && !path.split('/').some((part) => part === '.' || part === '..');
}
