import type { EmbeddingKind } from './embedder.ts'
import type { ModelTraits } from './models.ts'

/** What is sent for a text: prefixed, without lone surrogates (JSON parsers refuse them), never empty. */
export function prepareInput(text: string, kind: EmbeddingKind, traits: ModelTraits): string {
  const prefixed = (kind === 'query' ? traits.query : traits.document) + text.toWellFormed()
  const sent = traits.tokensMax === null ? prefixed : truncate(prefixed, traits.tokensMax - 2)
  return sent === '' ? ' ' : sent
}

/**
 * Cuts a text after about as many tokens, for servers that fail rather than truncate. An estimate on the safe
 * side for prose: a word piece has four letters; digits, marks and other scripts' characters count one each.
 */
function truncate(text: string, tokensMax: number): string {
  if (text.length <= tokensMax) return text
  let tokens = 0
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
    letters = isLetter ? letters + 1 : 0
    if (isLetter ? letters % 4 === 1 : code > 0x20) tokens++
    if (tokens <= tokensMax) continue
    // Without the half of a surrogate pair that the cut may leave.
    return text
      .slice(0, at)
      .toWellFormed()
      .replace(/\ufffd$/, '')
  }
  return text
}
