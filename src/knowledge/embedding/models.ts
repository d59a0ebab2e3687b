export interface ModelTraits {
  /** Name of the prefixes, for the embedding space. */
  prefixes: keyof typeof prefixes
  query: string
  document: string
  /** How token vectors become one, should the server leave that to us. */
  pooling: Pooling
  /** What the model reads of a text; null where we do not know. */
  tokensMax: number | null
}

/** The mean of all token vectors, or the vector of the first token. */
export type Pooling = 'mean' | 'cls'

/** What we know of a model, by its id on the hub. Throws when it cannot be an id. */
export function traitsOf(model: string): ModelTraits {
  if (!/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)?$/.test(model))
    throw new Error(`"${model}" is not the id of a Hugging Face model`)
  const id = model.toLowerCase()
  const family = families.find(({ ids }) => ids.test(id)) ?? unknownFamily
  return { ...family, ...prefixes[family.prefixes] }
}

const bgeQuery = 'Represent this sentence for searching relevant passages: '

/** What is put before a text, by the model cards. */
const prefixes = {
  none: { query: '', document: '' },
  query: { query: 'query: ', document: '' },
  e5: { query: 'query: ', document: 'passage: ' },
  'bge-en': { query: bgeQuery, document: '' },
  'bge-zh': { query: '为这个句子生成表示以用于检索相关文章：', document: '' },
  nomic: { query: 'search_query: ', document: 'search_document: ' },
} as const

type Family = Pick<ModelTraits, 'prefixes' | 'pooling' | 'tokensMax'>

const unknownFamily: Family = { prefixes: 'none', pooling: 'mean', tokensMax: null }

/** By the model cards and their `1_Pooling/config.json`; the first whose expression matches the id. */
const families: readonly (Family & { ids: RegExp })[] = [
  { ids: /bge-(small|base|large)-en/, prefixes: 'bge-en', pooling: 'cls', tokensMax: 512 },
  { ids: /bge-(small|base|large)-zh/, prefixes: 'bge-zh', pooling: 'cls', tokensMax: 512 },
  { ids: /bge-m3/, prefixes: 'none', pooling: 'cls', tokensMax: 8_192 },
  {
    ids: /(^|\/)(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?$/,
    prefixes: 'e5',
    pooling: 'mean',
    tokensMax: 512,
  },
  { ids: /mxbai-embed-large-v1/, prefixes: 'bge-en', pooling: 'cls', tokensMax: 512 },
  { ids: /snowflake-arctic-embed-[ml]-v2\.0$/, prefixes: 'query', pooling: 'cls', tokensMax: 8_192 },
  {
    ids: /snowflake-arctic-embed-(xs|s|m|l)(-v1\.5)?$/,
    prefixes: 'bge-en',
    pooling: 'cls',
    tokensMax: 512,
  },
  { ids: /nomic-embed-text-v1/, prefixes: 'nomic', pooling: 'mean', tokensMax: 8_192 },
  { ids: /gte-(base|large)-en-v1\.5/, prefixes: 'none', pooling: 'cls', tokensMax: 8_192 },
  { ids: /(^|\/)gte-(small|base|large)$/, prefixes: 'none', pooling: 'mean', tokensMax: 512 },
  { ids: /(^|\/)(all|multi-qa|paraphrase)-/, prefixes: 'none', pooling: 'mean', tokensMax: 512 },
]
