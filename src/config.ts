import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { isOneSlip, nearestName } from './names.ts'

const embeddingProviders = ['huggingface', 'openai', 'builtin', 'local'] as const
const roles = ['owner', 'member', 'viewer'] as const
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
const logFormats = ['json', 'pretty'] as const

/** Null means not set. */
export type Config = ReturnType<typeof loadConfig>

interface DatabaseConfig {
  /** For a local database `file:` and an absolute, percent-encoded path. */
  readonly databaseUrl: string
  /** Absolute path of a `file:` database; null for a remote one. */
  readonly databaseFile: string | null
}

interface EmbeddingConfig {
  readonly provider: (typeof embeddingProviders)[number]
  /** Model id on Hugging Face, with `openai` the server's name for it, with `local` also a folder; unused by `builtin`. */
  readonly model: string
  /** Serves the model instead of Hugging Face's hosted inference. */
  readonly endpoint: string | null
  readonly token: string | null
}

interface AnalysisConfig {
  readonly model: string
  /** Of a server that speaks OpenAI's chat API; null for Hugging Face's providers. */
  readonly endpoint: string | null
  readonly token: string | null
  /** How long after its completion a call is analyzed. */
  readonly delayMs: number
  /** What the model can read at once. */
  readonly contextTokens: number
  readonly requestsAtOnce: number
  /** 0 is no limit. */
  readonly requestsPerMinute: number
}

interface BucketConfig {
  /** Address of the bucket. */
  readonly endpoint: string
  /** Begins each name in the bucket; may be empty. */
  readonly prefix: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** Why the service cannot start: one line a problem, which names the variable and never shows a secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Reads everything that the environment decides, validated and deeply frozen. Relative paths start at the working
 * directory. Empty variables count as unset, unknown ones are ignored, though `slips` has those that may be meant as known ones.
 * @param isTerminal whether the log is pretty by default
 * @throws ConfigError with every problem
 */
export function loadConfig(env: Record<string, string | undefined>, isTerminal: boolean) {
  const read = new Reader(env)
  const dataDir = resolve(read.text('DATA_DIR') ?? 'data')
  const config = {
    /** 0 picks a free port. */
    port: read.integer('PORT', 3000, [0, 65_535]),
    host: read.host('HOST') ?? '127.0.0.1',
    /** An absolute path. */
    dataDir,
    ...read.database('DATABASE_URL', join(dataDir, 'callbook.db')),
    /** A secret, for the remote database or the primary. */
    databaseAuthToken: read.secret('DATABASE_AUTH_TOKEN'),
    /** The primary of which the `file:` database is an embedded replica; null for a database without one. */
    databaseSyncUrl: read.databaseServer('DATABASE_SYNC_URL'),
    databaseSyncIntervalMs: read.integer('DATABASE_SYNC_INTERVAL_MS', 1000, [10, 3_600_000]),
    embedding: read.embedding(),
    indexWaitMs: read.integer('INDEX_WAIT_MS', 5000, [0, 600_000]),
    eraseWithinMs: read.integer('ERASE_WITHIN_MS', 5000, [100, 3_600_000]),
    knowledgeTextBytesMax: read.integer('KNOWLEDGE_TEXT_MAX_BYTES', 2 ** 20, [1, 2 ** 28]),
    bodyBytesMax: read.integer('BODY_MAX_BYTES', 2 ** 25, [1, 2 ** 30]),
    recordingBytesMax: read.integer('RECORDING_MAX_BYTES', 2 ** 28, [1, 2 ** 40]),
    /** Null keeps recordings in a folder of DATA_DIR. */
    bucket: read.bucket(),
    /** Largest document of a call, in bytes of UTF-8. */
    callBytesMax: read.integer('CALL_MAX_BYTES', 2 ** 23, [1_024, 2 ** 28]),
    /** What models cost in projects without prices of their own: the path of a list in JSON. */
    pricesFile: read.text('PRICES_FILE'),
    /** Without a trailing slash; null means the address that the server listens on. */
    publicUrl: read.publicUrl('PUBLIC_URL'),
    /** 0 turns it off. */
    replicaStalenessMsMax: read.integer('REPLICA_MAX_STALENESS_MS', 0, [0, 604_800_000]),
    /** How long an idle connection stays open. Bun's maximum is 255. */
    keepAliveSeconds: read.integer('KEEP_ALIVE_SECONDS', 75, [1, 255]),
    /** Valid addresses and CIDR ranges, never `*`. Empty trusts nobody, unlike an empty allow-list. */
    trustedProxies: read.addresses('TRUSTED_PROXIES'),
    /** Addresses and CIDR ranges that webhooks may reach although they are not public. */
    webhookAllowPrivate: read.addresses('WEBHOOK_ALLOW_PRIVATE'),
    /** Requests of one key; 0 sets no limit. */
    rateLimitPerMinute: read.integer('RATE_LIMIT_PER_MINUTE', 0, [0, 1_000_000]),
    metricsToken: read.secret('METRICS_TOKEN'),
    /** The model that analyzes calls; null analyzes none. */
    analysis: read.analysis(),
    /** Slower requests are logged as slow; 0 logs none. */
    slowRequestMs: read.integer('SLOW_REQUEST_MS', 1_000, [0, 3_600_000]),
    /** What the first start makes on an empty database, unchecked: later starts ignore it. Has secrets. */
    init: read.init(),
    /** Where people can sign in instead of with a password; null for nowhere. */
    oidc: read.oidc(),
    logLevel: read.choice('LOG_LEVEL', logLevels) ?? 'info',
    logFormat: read.choice('LOG_FORMAT', logFormats) ?? (isTerminal ? 'pretty' : 'json'),
  }
  if (read.problems.length > 0) throw new ConfigError(read.problems)
  return Object.freeze({ ...config, slips: read.slips() })
}

/** Reads one variable at a time and collects the problems, so that one start shows them all. */
class Reader {
  readonly problems: string[] = []
  private readonly names = new Set<string>()
  private readonly env: Record<string, string | undefined>

  constructor(env: Record<string, string | undefined>) {
    this.env = env
  }

  text(name: string): string | null {
    this.names.add(name)
    return this.env[name] || null
  }

  /** The variables that may be meant as one that is read, such as those whose name is one slip away, in sentences. */
  slips(): readonly string[] {
    const unknown = Object.keys(this.env).filter((name) => this.env[name] && !this.names.has(name))
    return Object.freeze(
      unknown.flatMap((name) => {
        const nearest = name.startsWith('CALLBOOK_INIT_')
          ? nearestName(name, [...this.names])
          : [...this.names].find((candidate) => isOneSlip(name, candidate))
        return nearest ? [`${name} is not known and has no effect: did you mean ${nearest}?`] : []
      }),
    )
  }

  /** `range` includes both ends. */
  integer(name: string, fallback: number, range: [min: number, max: number]): number {
    const [min, max] = range
    const text = this.text(name)
    if (text === null) return fallback
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    this.refuse(name, `is ${quoted(text)}`, `an integer from ${min} to ${max}, digits only`)
    return fallback
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const text = this.text(name)
    const choice = choices.find((candidate) => candidate === text) ?? null
    if (text === null || choice !== null) return choice
    return this.refuse(name, `is ${quoted(text)}`, `one of ${choices.join(', ')}`)
  }

  secret(name: string): string | null {
    const text = this.text(name)
    if (text === null || /^[\x21-\x7e]+$/.test(text)) return text
    return this.refuse(
      name,
      'has white space or other characters unfit for a header',
      'visible ASCII characters',
    )
  }

  host(name: string): string | null {
    const text = this.text(name)
    if (text === null || isIP(text) !== 0) return text
    const isName = text.length <= 253 && /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(text)
    if (isName && !/^[0-9.]+$/.test(text)) return text
    return this.refuse(name, `is ${quoted(text)}`, 'a host name or an IP address, without brackets and port')
  }

  publicUrl(name: string): string | null {
    const url = this.url(name, ['http://…', 'https://…'])
    if (url === null) return null
    if (url.search === '' && url.hash === '') return url.origin + url.pathname.replace(/\/+$/, '')
    return this.refuse(name, 'has a query or a fragment', 'a URL without them')
  }

  database(name: string, defaultFile: string): DatabaseConfig {
    const text = this.text(name)
    if (text === null || /^file:/i.test(text)) {
      const file = text === null ? defaultFile : (this.databaseFile(name, text) ?? defaultFile)
      return { databaseUrl: `file:${file.replace(/[%?#]/g, encodeURIComponent)}`, databaseFile: file }
    }
    const databaseUrl = this.databaseServer(name, ['file:…'])
    if (databaseUrl !== null && this.text('DATABASE_SYNC_URL') !== null) {
      this.refuse('DATABASE_SYNC_URL', `is set, but ${name} is remote`, `a primary only for a file: ${name}`)
    }
    return { databaseUrl: databaseUrl ?? '', databaseFile: null }
  }

  /** The URL as written. It may be logged, since tokens and passwords in it are refused. */
  databaseServer(name: string, otherForms: readonly string[] = []): string | null {
    const url = this.url(name, [...otherForms, 'libsql://…', 'http://…', 'https://…'])
    if (url === null) return null
    if (url.searchParams.has('authToken')) {
      return this.refuse(name, 'contains an authToken', 'the URL, with the token in DATABASE_AUTH_TOKEN')
    }
    const isPlain = [...url.searchParams].every(([key, value]) => key === 'tls' && /^[01]$/.test(value))
    if (isPlain && url.hash === '') return this.text(name)
    return this.refuse(name, 'has a fragment or an unknown query parameter', 'no query but tls=0 or tls=1')
  }

  bucket(): BucketConfig | null {
    const url = this.text('RECORDINGS_URL')
    const endpoint = this.url('RECORDINGS_ENDPOINT', ['http://…', 'https://…'])
    const [accessKeyId, secretAccessKey] = [
      this.secret('AWS_ACCESS_KEY_ID'),
      this.secret('AWS_SECRET_ACCESS_KEY'),
    ]
    const region = this.text('AWS_REGION') ?? 'us-east-1'
    if (url === null) return null
    const [, bucket, path = ''] =
      /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/.exec(url) ?? []
    if (bucket === undefined)
      return this.refuse('RECORDINGS_URL', `is ${quoted(url)}`, 's3://bucket or s3://bucket/prefix')
    if (accessKeyId === null)
      this.refuse('AWS_ACCESS_KEY_ID', 'is not set', 'the key of RECORDINGS_URL’s bucket')
    if (this.text('AWS_SECRET_ACCESS_KEY') === null)
      this.refuse('AWS_SECRET_ACCESS_KEY', 'is not set', 'the secret of RECORDINGS_URL’s bucket')
    const server = endpoint?.href ?? `https://s3.${region}.amazonaws.com`
    return Object.freeze({
      endpoint: `${server.replace(/\/+$/, '')}/${bucket}`,
      prefix: path.replace(/^\/+|\/+$/g, '').replace(/(?<=.)$/, '/'),
      region,
      accessKeyId: accessKeyId ?? '',
      secretAccessKey: secretAccessKey ?? '',
    })
  }

  embedding(): EmbeddingConfig {
    const choice = this.choice('EMBEDDING_PROVIDER', embeddingProviders)
    const endpointUrl = this.url('EMBEDDING_ENDPOINT', ['http://…', 'https://…'])
    const endpoint = endpointUrl === null ? null : this.text('EMBEDDING_ENDPOINT')
    const [ownToken, hubToken] = [this.secret('EMBEDDING_TOKEN'), this.secret('HF_TOKEN')]

    const isTooLong = endpointUrl?.pathname.endsWith('/v1/embeddings') ?? false
    if (isTooLong)
      this.refuse(
        'EMBEDDING_ENDPOINT',
        'ends in /embeddings',
        'the address as far as /v1, for OpenAI’s format',
      )

    const hasEndpoint = this.text('EMBEDDING_ENDPOINT') !== null
    const isReachable = hasEndpoint || this.text('HF_TOKEN') !== null
    const isOpenAi = isTooLong || /\/v1\/*$/.test(endpointUrl?.pathname ?? '')
    const provider = choice ?? (isOpenAi ? 'openai' : isReachable ? 'huggingface' : 'builtin')
    if (provider === 'openai') {
      if (!hasEndpoint)
        this.refuse('EMBEDDING_PROVIDER', 'is openai, but EMBEDDING_ENDPOINT is not set', 'openai with it')
      const model = this.modelName('EMBEDDING_MODEL') ?? ''
      if (this.text('EMBEDDING_MODEL') === null)
        this.refuse('EMBEDDING_MODEL', 'is not set', 'the name of a model of EMBEDDING_ENDPOINT')
      return Object.freeze({ provider, model, endpoint, token: ownToken })
    }
    const model = this.model('EMBEDDING_MODEL', choice === 'local') ?? 'BAAI/bge-small-en-v1.5'
    if (choice === 'huggingface' && !isReachable) {
      const wrong = 'is huggingface, but neither HF_TOKEN nor EMBEDDING_ENDPOINT is set'
      this.refuse('EMBEDDING_PROVIDER', wrong, 'huggingface with one of them, or builtin')
    }
    // A token for a server of one's own is for that server alone.
    const token = (provider === 'huggingface' && endpoint !== null ? ownToken : null) ?? hubToken
    return Object.freeze({ provider, model, endpoint, token })
  }

  init() {
    return Object.freeze({
      project: this.text('CALLBOOK_INIT_PROJECT') ?? 'default',
      apiKey: this.text('CALLBOOK_INIT_API_KEY'),
      ingestKey: this.text('CALLBOOK_INIT_INGEST_KEY'),
      ownerEmail: this.text('CALLBOOK_INIT_OWNER_EMAIL'),
      ownerPassword: this.text('CALLBOOK_INIT_OWNER_PASSWORD'),
    })
  }

  analysis(): AnalysisConfig | null {
    const model = this.modelName('ANALYSIS_MODEL')
    const endpoint =
      this.url('ANALYSIS_ENDPOINT', ['http://…', 'https://…']) && this.text('ANALYSIS_ENDPOINT')
    const ownToken = this.secret('ANALYSIS_TOKEN')
    const delaySeconds = this.integer('ANALYSIS_DELAY_SECONDS', 60, [0, 86_400])
    const limits = {
      delayMs: delaySeconds * 1_000,
      contextTokens: this.integer('ANALYSIS_CONTEXT_TOKENS', 32_768, [1_024, 10_000_000]),
      requestsAtOnce: this.integer('ANALYSIS_CONCURRENCY', 4, [1, 256]),
      requestsPerMinute: this.integer('ANALYSIS_REQUESTS_PER_MINUTE', 0, [0, 1_000_000]),
    }
    if (model === null) return null
    // A token of Hugging Face's is for Hugging Face alone.
    const token = ownToken ?? (endpoint === null ? this.text('HF_TOKEN') : null)
    if (endpoint === null && token === null) {
      const wrong = 'is set, but neither ANALYSIS_ENDPOINT nor ANALYSIS_TOKEN nor HF_TOKEN is'
      return this.refuse('ANALYSIS_MODEL', wrong, 'a model with one of them')
    }
    return Object.freeze({ model, endpoint, token, ...limits })
  }

  oidc() {
    const [clientId, clientSecret] = [this.text('OIDC_CLIENT_ID'), this.secret('OIDC_CLIENT_SECRET')]
    const issuer = this.issuer('OIDC_ISSUER')
    const config = {
      issuer: this.text('OIDC_ISSUER') ?? '',
      clientId: clientId ?? '',
      clientSecret: clientSecret ?? '',
      name: this.text('OIDC_NAME') ?? issuer?.host ?? '',
      allowedDomains: this.domains('OIDC_ALLOWED_DOMAINS'),
      groupsClaim: this.text('OIDC_GROUPS_CLAIM') ?? 'groups',
      groupRoles: this.groupRoles('OIDC_ROLES'),
      sessionHours: this.integer('OIDC_SESSION_HOURS', 12, [1, 2_160]),
      isOnly: this.choice('OIDC_ONLY', ['true', 'false']) === 'true',
    }
    const together = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET']
    const missing = together.filter((name) => this.text(name) === null)
    // Otherwise nobody could sign in, or passwords would be taken although somebody forbade them.
    if (missing.length < together.length || config.isOnly) {
      for (const name of missing) this.refuse(name, 'is not set', `all of ${together.join(', ')}, or none`)
    }
    return missing.length > 0 ? null : Object.freeze(config)
  }

  addresses(name: string): readonly string[] {
    const entries = this.text(name)?.split(',') ?? []
    const read = entries.map((part, index) => {
      const entry = part.trim()
      if (isAddressOrRange(entry)) return entry
      const forms = 'IPv4 and IPv6 addresses and CIDR ranges, separated by commas'
      this.refuse(name, `has ${quoted(entry)} as entry ${index + 1}`, forms)
      return entry
    })
    return Object.freeze(read)
  }

  /** What is sent to it and told by it must not be read or changed on the way. */
  private issuer(name: string): URL | null {
    const url = this.url(name, ['https://…', 'http://…'])
    if (url === null) return null
    const isSafe = url.protocol === 'https:' || /^(127\.0\.0\.1|\[::1\]|localhost)$/.test(url.hostname)
    if (!isSafe) return this.refuse(name, 'is not https', 'https://…, or http://… on this machine')
    if (url.search === '' && url.hash === '') return url
    return this.refuse(name, 'has a query or a fragment', 'a URL without them')
  }

  private domains(name: string): readonly string[] {
    const domains = (this.text(name)?.split(',') ?? []).map((domain) => domain.trim().toLowerCase())
    for (const domain of domains.filter((text) => !/^([a-z0-9-]+\.)+[a-z0-9-]{2,}$/.test(text))) {
      this.refuse(name, `has ${quoted(domain)}`, 'domains such as example.com, separated by commas')
    }
    return Object.freeze(domains)
  }

  /** Group and project may hold any character; a comma is written `\,`. */
  private groupRoles(name: string) {
    const entries = this.text(name)?.match(/(?:\\.|[^,\\]|\\$)+/g) ?? []
    const read = entries.flatMap((part) => {
      const entry = part.trim().replaceAll('\\,', ',')
      const [, group, project, roleName] = /^(.+)=(.+):([^:=]*)$/s.exec(entry) ?? []
      const role = roles.find((each) => each === roleName)
      if (group !== undefined && project !== undefined && role)
        return [Object.freeze({ group, project, role })]
      const forms = `group=project:role, the role one of ${roles.join(', ')}, separated by commas`
      this.refuse(name, `has ${quoted(entry)}`, forms)
      return []
    })
    return Object.freeze(read)
  }

  /** A model's id, or where folders are accepted a path that is absolute or begins with a dot. */
  private model(name: string, acceptsFolder: boolean): string | null {
    const text = this.text(name)
    if (text !== null && acceptsFolder && /^(?:\.{1,2}(?:[\\/]|$)|\/|[A-Za-z]:[\\/])/.test(text)) return text
    const isModelId = /^([A-Za-z0-9_][A-Za-z0-9._-]{0,95}\/)?[A-Za-z0-9_][A-Za-z0-9._-]{0,95}$/
    if (text === null || isModelId.test(text)) return text
    return this.refuse(
      name,
      `is ${quoted(text)}`,
      `a model id such as BAAI/bge-small-en-v1.5${acceptsFolder ? ', or a folder such as ./models/bge-small' : ''}`,
    )
  }

  /** Servers give models all kinds of names, such as `llama3.1:8b` and `org/model:provider`. */
  private modelName(name: string): string | null {
    const text = this.text(name)
    if (text === null || /^[\x21-\x7e]{1,200}$/.test(text)) return text
    return this.refuse(
      name,
      `is ${quoted(text)}`,
      'the name of a model, such as meta-llama/Llama-3.3-70B-Instruct',
    )
  }

  private url(name: string, forms: readonly string[]): URL | null {
    const text = this.text(name)
    if (text === null) return null
    // The text is not shown: it may hold a password or a token.
    const isComplete = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s/?#\\][^\s\\]*$/.test(text) && URL.canParse(text)
    if (!isComplete) return this.refuse(name, 'is not a complete URL', forms.join(', '))
    const url = new URL(text)
    if (!forms.includes(`${url.protocol}//…`)) {
      return this.refuse(name, `has the scheme ${quoted(url.protocol)}`, forms.join(', '))
    }
    if (url.hostname === '') return this.refuse(name, 'has no host', forms.join(', '))
    if (url.username === '' && url.password === '') return url
    return this.refuse(name, 'contains a user name or a password', 'a URL without them')
  }

  /** Absolute path of a `file:` URL in any form the libSQL client takes: file:a.db, file:/a.db, file:///a.db. */
  private databaseFile(name: string, text: string): string | null {
    const forms = 'file: followed by the path of a database file, without query and fragment'
    const [, host = '', encoded = ''] = /^file:(?:\/\/([^/?#]*))?([^?#]*)$/i.exec(text) ?? []
    const path = percentDecoded(encoded)
    const isLocal = host === '' || host === 'localhost'
    if (isLocal && path !== null && !/^$|^:memory:$|\/$|\0/.test(path)) return resolve(path)
    return this.refuse(name, 'does not name a database file', forms)
  }

  private refuse(name: string, wrong: string, forms: string): null {
    this.problems.push(`${name} ${wrong}; accepted: ${forms}`)
    return null
  }
}

/** The grammar of access/keys/ip-rules.ts without `*`, which would let every client choose its own address. */
function isAddressOrRange(entry: string): boolean {
  const [address = '', bits, ...more] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more.length > 0) return false
  if (bits === undefined) return true
  // A mapped range counts its prefix in the IPv6 notation: /104 is /8 of IPv4.
  const bitsMin = family === 6 && ipaddr.IPv6.parse(address).isIPv4MappedAddress() ? 96 : 0
  return (
    /^(0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) >= bitsMin && Number(bits) <= (family === 4 ? 32 : 128)
  )
}

/** Escaped and shortened, so that each problem stays on one line. */
function quoted(text: string): string {
  const charsMax = 60
  return JSON.stringify(text.length > charsMax ? `${text.slice(0, charsMax)}…` : text)
}

function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    // Bad percent-encoding: the caller reports the variable as malformed.
    return null
  }
}
