/**
 * Checks the path to return to after sign-in. Null for any place outside the console, so that a link to the sign-in
 * page cannot redirect elsewhere.
 *
 * @param from such as `/p/prj_1/calls?status=live`: below `/console`
 */
export function ownPath(from: unknown): string | null {
  if (typeof from !== 'string' || from.length > 2_000 || !/^\/(?![/\\])/.test(from)) return null
  const base = 'https://callbook.invalid'
  const url = URL.canParse(from, base) ? new URL(from, base) : null
  if (url?.origin !== base || !url.pathname.startsWith('/p/')) return null
  return url.pathname + url.search + url.hash
}
