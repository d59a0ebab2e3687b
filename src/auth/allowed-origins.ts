import type { FieldError } from '../errors.ts'
import type { KeyScope } from '../identity.ts'
import type { KeyKind } from './token.ts'

const allowedOriginsMax = 100

interface OriginsDraft {
  kind: KeyKind
  scope?: KeyScope | undefined
  allowedOrigins?: string[] | undefined
}

/** What is wrong with the origins whose pages may use a new key in a browser. */
export function originProblems({ kind, scope = 'full', allowedOrigins = [] }: OriginsDraft): FieldError[] {
  if (allowedOrigins.length === 0) return []
  // Whoever opens the page can read the key.
  if (kind === 'ingest' || scope === 'full') {
    return [{ field: 'allowedOrigins', message: 'needs the scope read or search' }]
  }
  if (allowedOrigins.length > allowedOriginsMax) {
    return [{ field: 'allowedOrigins', message: `must have at most ${allowedOriginsMax} entries` }]
  }
  return allowedOrigins.flatMap((origin, index) =>
    isOrigin(origin)
      ? []
      : [{ field: `allowedOrigins.${index}`, message: 'must be an origin such as https://app.example.com' }],
  )
}

/** Whether the text is an origin as browsers send it: in lower case, without a path. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
