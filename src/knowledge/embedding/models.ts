import type { EmbeddingKind } from './embedder.ts'

export interface ModelTraits {
  /** Name of the prefixes, for the embedding space. */
  prefixes: keyof typeof prefixes
  query: string
  document: string
  /** How to make one vector of token vectors, for servers that return these. */
  pooling: Pooling
  /** How many tokens the model reads; null for an unknown model. */
  tokensMax: number | null
}

/** The mean of all token vectors, or the vector of the first token. */
export type Pooling = 'mean' | 'cls'

/** What is known about a model, by its id on the hub. Throws if the id is not valid. */
export function traitsOf(model: string): ModelTraits {
  if (!/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)?$/.test(model))
    throw new Error(`"${model}" is not the id of a Hugging Face model`)
  return traitsOfId(model.toLowerCase())
}

/** The same by a server's own name for a model, such as `nomic-embed-text:latest` or `org/bge-m3`. */
export function traitsOfName(model: string): ModelTraits {
  const [name = ''] = model.slice(model.lastIndexOf('/') + 1).split(':')
  return traitsOfId(name.toLowerCase())
}

function traitsOfId(id: string): ModelTraits {
  const [, name, pooling, tokensMax] = families.find(([ids]) => ids.test(id)) ?? unknownFamily
  return { prefixes: name, ...prefixes[name], pooling, tokensMax }
}

/** The text to send: with its prefix, without lone surrogates, which JSON parsers refuse, and never empty. */
export function prepareInput(text: string, kind: EmbeddingKind, traits: ModelTraits): string {
  const prefixed = (kind === 'query' ? traits.query : traits.document) + text.toWellFormed()
  const input = traits.tokensMax === null ? prefixed : truncate(prefixed, traits.tokensMax - 2)
  return input === '' ? ' ' : input
}

/**
 * Cuts a text after about so many tokens, for servers that fail instead of truncating. An estimate on the safe side for
 * prose: four letters count as one token; digits, marks and characters of other scripts as one each.
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

const bgeQuery = 'Represent this sentence for searching relevant passages: '

/** The prefixes of texts, from the model cards. */
const prefixes = {
  none: { query: '', document: '' },
  query: { query: 'query: ', document: '' },
  e5: { query: 'query: ', document: 'passage: ' },
  'bge-en': { query: bgeQuery, document: '' },
  'bge-zh': { query: '为这个句子生成表示以用于检索相关文章：', document: '' },
  nomic: { query: 'search_query: ', document: 'search_document: ' },
} as const

type Family = [ids: RegExp, prefixes: keyof typeof prefixes, pooling: Pooling, tokensMax: number | null]

/** From the model cards and `1_Pooling/config.json`. The first expression that matches the id counts. */
const families: readonly Family[] = [
  [/bge-(small|base|large)(-en|$)/, 'bge-en', 'cls', 512],
  [/bge-(small|base|large)-zh/, 'bge-zh', 'cls', 512],
  [/bge-m3/, 'none', 'cls', 8_192],
  [/(^|\/)(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?$/, 'e5', 'mean', 512],
  [/mxbai-embed-large/, 'bge-en', 'cls', 512],
  [/snowflake-arctic-embed(2$|-[ml]-v2\.0$)/, 'query', 'cls', 8_192],
  [/snowflake-arctic-embed(-xs|-s|-m|-l)?(-v1\.5)?$/, 'bge-en', 'cls', 512],
  [/nomic-embed-text(-v1|$)/, 'nomic', 'mean', 8_192],
  [/gte-(base|large)-en-v1\.5/, 'none', 'cls', 8_192],
  [/(^|\/)gte-(small|base|large)$/, 'none', 'mean', 512],
  [/(^|\/)(all|multi-qa|paraphrase)-/, 'none', 'mean', 512],
]
const unknownFamily: Family = [/^/, 'none', 'mean', null]
