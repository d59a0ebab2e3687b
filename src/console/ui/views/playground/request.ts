/** A request of the playground, as for `POST /v1/knowledge/search`. */
export interface AskRequest {
  query: string
  limit?: number | undefined
  mode?: 'hybrid' | 'vector' | 'keyword' | undefined
  timeoutMs?: number | undefined
  itemIds?: string[] | undefined
  /** Those of a key. */
  tags?: string[] | undefined
}

/** The same request as a shell command. The page does not know any key, so the command reads one from a variable. */
export function toCurl(origin: string, { query, limit, mode, timeoutMs, itemIds, tags }: AskRequest): string {
  const body = JSON.stringify({ query, limit, mode, timeoutMs, itemIds, tags })
  return [
    `curl ${origin}/v1/knowledge/search \\`,
    `  -H "Authorization: Bearer $CALLBOOK_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellQuoted(body)}`,
  ].join('\n')
}

/** Within single quotes, a shell takes everything literally except the quote itself. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
