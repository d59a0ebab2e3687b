/**
 * A path of this page, from what an address names as the place to go to; null for any other place, so that no
 * link to the sign-in page leads elsewhere.
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
