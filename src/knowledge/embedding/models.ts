export interface ModelTraits {
  /** Name of the prefixes, for the embedding space. */
  prefixes: keyof typeof prefixes
  query: string
  document: string
  /** How token vectors become one, should the server leave that to us. */
  pooling: Pooling
  /** What the model reads of a text; null where we do not know. */
  tokensMax: number | null
  /** Length of its vectors; null where we do not know. */
  dimensions: number | null
}

/** The mean of all token vectors, or the vector of the first token. */
export type Pooling = 'mean' | 'cls'

/** What we know of a model, by its id on the hub. Throws when it cannot be an id. */
export function traitsOf(model: string): ModelTraits {
  if (!/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)?$/.test(model))
    throw new Error(`"${model}" is not the id of a Hugging Face model`)
  const id = model.toLowerCase()
  const family = families.find(({ ids }) => ids.test(id)) ?? unknownFamily
  const dimensions = knownDimensions.find(([, ids]) => ids.includes(id))?.[0] ?? null
  const { pooling, tokensMax } = family
  return { prefixes: family.prefixes, ...prefixes[family.prefixes], pooling, tokensMax, dimensions }
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

/** Ids in lower case. */
const knownDimensions: readonly [dimensions: number, ids: readonly string[]][] = [
  [
    384,
    [
      'baai/bge-small-en',
      'baai/bge-small-en-v1.5',
      'intfloat/e5-small',
      'intfloat/e5-small-v2',
      'intfloat/multilingual-e5-small',
      'thenlper/gte-small',
      'snowflake/snowflake-arctic-embed-xs',
      'snowflake/snowflake-arctic-embed-s',
      'sentence-transformers/all-minilm-l6-v2',
      'sentence-transformers/all-minilm-l12-v2',
      'sentence-transformers/multi-qa-minilm-l6-cos-v1',
      'sentence-transformers/paraphrase-multilingual-minilm-l12-v2',
    ],
  ],
  [512, ['baai/bge-small-zh-v1.5']],
  [
    768,
    [
      'baai/bge-base-en',
      'baai/bge-base-en-v1.5',
      'baai/bge-base-zh-v1.5',
      'intfloat/e5-base',
      'intfloat/e5-base-v2',
      'intfloat/multilingual-e5-base',
      'thenlper/gte-base',
      'alibaba-nlp/gte-base-en-v1.5',
      'snowflake/snowflake-arctic-embed-m',
      'nomic-ai/nomic-embed-text-v1',
      'snowflake/snowflake-arctic-embed-m-v1.5',
      'snowflake/snowflake-arctic-embed-m-v2.0',
      'nomic-ai/nomic-embed-text-v1.5',
      'sentence-transformers/all-mpnet-base-v2',
      'sentence-transformers/multi-qa-mpnet-base-dot-v1',
    ],
  ],
  [
    1_024,
    [
      'baai/bge-large-en',
      'baai/bge-large-en-v1.5',
      'baai/bge-large-zh-v1.5',
      'baai/bge-m3',
      'intfloat/e5-large',
      'intfloat/e5-large-v2',
      'intfloat/multilingual-e5-large',
      'thenlper/gte-large',
      'alibaba-nlp/gte-large-en-v1.5',
      'mixedbread-ai/mxbai-embed-large-v1',
      'snowflake/snowflake-arctic-embed-l',
      'snowflake/snowflake-arctic-embed-l-v2.0',
    ],
  ],
]
