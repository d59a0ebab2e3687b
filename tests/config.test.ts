import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { compileIpRules, validateIpEntries } from '../src/access/keys/ip-rules.ts'
import { ConfigError, loadConfig } from '../src/config.ts'
import fc from './support/fast-check.ts'

type Env = Record<string, string | undefined>

const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
const variables = [
  'PORT',
  'HOST',
  'DATA_DIR',
  'DATABASE_URL',
  'DATABASE_AUTH_TOKEN',
  'DATABASE_SYNC_URL',
  'DATABASE_SYNC_INTERVAL_MS',
  'EMBEDDING_PROVIDER',
  'EMBEDDING_MODEL',
  'EMBEDDING_ENDPOINT',
  'EMBEDDING_TOKEN',
  'HF_TOKEN',
  'CALLBOOK_INIT_PROJECT',
  'CALLBOOK_INIT_API_KEY',
  'CALLBOOK_INIT_INGEST_KEY',
  'CALLBOOK_INIT_OWNER_EMAIL',
  'CALLBOOK_INIT_OWNER_PASSWORD',
  'INDEX_WAIT_MS',
  'ERASE_WITHIN_MS',
  'KNOWLEDGE_TEXT_MAX_BYTES',
  'BODY_MAX_BYTES',
  'PUBLIC_URL',
  'CALL_MAX_BYTES',
  'REPLICA_MAX_STALENESS_MS',
  'TRUSTED_PROXIES',
  'RATE_LIMIT_PER_MINUTE',
  'RECORDING_MAX_BYTES',
  'PRICES_FILE',
  'RECORDINGS_URL',
  'RECORDINGS_ENDPOINT',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_REGION',
  'ANALYSIS_MODEL',
  'ANALYSIS_ENDPOINT',
  'ANALYSIS_TOKEN',
  'ANALYSIS_DELAY_SECONDS',
  'ANALYSIS_CONTEXT_TOKENS',
  'ANALYSIS_CONCURRENCY',
  'ANALYSIS_REQUESTS_PER_MINUTE',
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_NAME',
  'OIDC_ALLOWED_DOMAINS',
  'OIDC_GROUPS_CLAIM',
  'OIDC_ROLES',
  'OIDC_SESSION_HOURS',
  'OIDC_ONLY',
  'METRICS_TOKEN',
  'KEEP_ALIVE_SECONDS',
  'WEBHOOK_ALLOW_PRIVATE',
  'LOG_LEVEL',
  'SLOW_REQUEST_MS',
  'LOG_FORMAT',
]

function load(env: Env) {
  return loadConfig(env, false)
}

function problems(env: Env): readonly string[] {
  try {
    load(env)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    expect(error.message).toBe(error.problems.join('\n'))
    expect(error.message.split('\n')).toHaveLength(error.problems.length)
    return error.problems
  }
}

describe('defaults', () => {
  test('an empty environment is the documented defaults', () => {
    expect(load({})).toEqual({
      port: 3000,
      host: '127.0.0.1',
      dataDir: resolve('data'),
      databaseUrl: `file:${resolve('data/callbook.db')}`,
      databaseFile: resolve('data/callbook.db'),
      databaseAuthToken: null,
      databaseSyncUrl: null,
      databaseSyncIntervalMs: 1000,
      embedding: { provider: 'builtin', model: 'BAAI/bge-small-en-v1.5', endpoint: null, token: null },
      init: { project: 'default', apiKey: null, ingestKey: null, ownerEmail: null, ownerPassword: null },
      indexWaitMs: 5000,
      eraseWithinMs: 5000,
      knowledgeTextBytesMax: 1_048_576,
      bodyBytesMax: 33_554_432,
      recordingBytesMax: 268_435_456,
      bucket: null,
      callBytesMax: 8_388_608,
      pricesFile: null,
      publicUrl: null,
      replicaStalenessMsMax: 0,
      keepAliveSeconds: 75,
      trustedProxies: [],
      webhookAllowPrivate: [],
      rateLimitPerMinute: 0,
      metricsToken: null,
      analysis: null,
      slowRequestMs: 1000,
      oidc: null,
      logLevel: 'info',
      logFormat: 'json',
      slips: [],
    })
  })

  test('an empty string counts as unset, for every variable', () => {
    expect(load(Object.fromEntries(variables.map((name) => [name, ''])))).toEqual(load({}))
  })

  test('the log is pretty on a terminal, unless LOG_FORMAT says otherwise', () => {
    expect(loadConfig({}, true).logFormat).toBe('pretty')
    expect(loadConfig({ LOG_FORMAT: 'json' }, true).logFormat).toBe('json')
    expect(loadConfig({ LOG_FORMAT: 'pretty' }, false).logFormat).toBe('pretty')
  })

  test('the configuration is frozen, also inside', () => {
    const config = load({ TRUSTED_PROXIES: '10.0.0.0/8' })
    expect([config, config.embedding, config.trustedProxies].every(Object.isFrozen)).toBe(true)
  })

  test('.env.example lists every variable once, and uncommenting all of it changes nothing', () => {
    const entries = [...example.matchAll(/^# ([A-Z_]+)=(.*)$/gm)].map(([, name = '', value]) => [name, value])
    expect(entries.map(([name]) => name).sort()).toEqual([...variables].sort())
    expect(load(Object.fromEntries(entries))).toEqual(load({}))
    expect(example.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([])
  })
})

describe('a variable whose name is one slip from a known one', () => {
  test.each([
    ['DATADIR', 'DATA_DIR'],
    ['DATA_DIRR', 'DATA_DIR'],
    ['DATA_DIT', 'DATA_DIR'],
    ['ADTA_DIR', 'DATA_DIR'],
    ['PROT', 'PORT'],
    ['METRICS_TOKNE', 'METRICS_TOKEN'],
    ['HF_TOKENS', 'HF_TOKEN'],
    ['CALLBOOK_INIT_KEY', 'CALLBOOK_INIT_API_KEY'],
  ])('is named with the one that was meant: %s', (name, meant) => {
    expect(load({ [name]: 'x' }).slips).toEqual([
      `${name} is not known and has no effect: did you mean ${meant}?`,
    ])
  })

  test('is none with two slips, in other letters, or without a value', () => {
    const others = {
      DATADIRR: 'x',
      data_dir: 'x',
      PRTO_: 'x',
      HOME: 'x',
      PATH: 'x',
      DATADIR: '',
      DARA_DIT: 'x',
    }
    expect(load(others).slips).toEqual([])
  })
})

describe('problems', () => {
  test('every wrong variable is named in one message, one a line, with what is accepted', () => {
    const wrong = {
      PORT: '80a',
      HOST: 'a b',
      DATABASE_URL: 'mysql://db',
      DATABASE_AUTH_TOKEN: 'a b',
      DATABASE_SYNC_URL: 'nonsense',
      DATABASE_SYNC_INTERVAL_MS: '0',
      EMBEDDING_PROVIDER: 'chatgpt',
      EMBEDDING_MODEL: '../etc/passwd',
      EMBEDDING_ENDPOINT: 'ftp://models',
      EMBEDDING_TOKEN: 'a b',
      HF_TOKEN: 'hf\nx',
      INDEX_WAIT_MS: '-1',
      ERASE_WITHIN_MS: '1e3',
      KNOWLEDGE_TEXT_MAX_BYTES: '1MiB',
      BODY_MAX_BYTES: '0',
      PUBLIC_URL: 'example.com',
      REPLICA_MAX_STALENESS_MS: '1.5',
      KEEP_ALIVE_SECONDS: '256',
      TRUSTED_PROXIES: '10.0.0',
      RATE_LIMIT_PER_MINUTE: '٣',
      METRICS_TOKEN: 'ü',
      ANALYSIS_MODEL: 'a b',
      ANALYSIS_ENDPOINT: 'localhost:8080',
      ANALYSIS_TOKEN: 'x y',
      ANALYSIS_DELAY_SECONDS: '1m',
      ANALYSIS_CONTEXT_TOKENS: '10',
      ANALYSIS_CONCURRENCY: '0',
      ANALYSIS_REQUESTS_PER_MINUTE: '-1',
      OIDC_ISSUER: 'http://id.example.com',
      OIDC_CLIENT_ID: '',
      OIDC_CLIENT_SECRET: 'a b',
      OIDC_ALLOWED_DOMAINS: '@example.com',
      OIDC_ROLES: 'staff=Support:boss',
      OIDC_SESSION_HOURS: '0',
      OIDC_ONLY: 'yes',
      LOG_LEVEL: 'verbose',
      LOG_FORMAT: 'xml',
    }
    const found = problems(wrong)
    expect(found.map((line) => line.split(' ')[0]).sort()).toEqual(Object.keys(wrong).sort())
    expect(found.every((line) => line.includes('; accepted: '))).toBe(true)
    expect(found[0]).toBe('PORT is "80a"; accepted: an integer from 0 to 65535, digits only')
  })

  test.each([
    '',
    ' ',
    '+1',
    '-1',
    '0x10',
    '1e3',
    '1.0',
    ' 5',
    '5 ',
    '٣',
    '65536',
    '9'.repeat(400),
    'NaN',
    'Infinity',
  ])('PORT=%j is not a port', (text) => {
    expect(problems({ PORT: text })).toHaveLength(text === '' ? 0 : 1)
  })

  test('PORT takes 0 and 65535', () => {
    expect(load({ PORT: '0' }).port).toBe(0)
    expect(load({ PORT: '65535' }).port).toBe(65_535)
  })

  test('no message shows a secret, whichever variable holds it', () => {
    const secret = 'SECRET0123456789'
    const shown = problems({
      DATABASE_URL: `libsql://db.example.com?authToken=${secret}`,
      DATABASE_SYNC_URL: `https://user:${secret}@db.example.com`,
      EMBEDDING_ENDPOINT: `gopher://host/${secret}`,
      PUBLIC_URL: `https://example.com/?token=${secret}`,
      DATABASE_AUTH_TOKEN: `${secret} `,
      EMBEDDING_TOKEN: `${secret} `,
      HF_TOKEN: ` ${secret}`,
      METRICS_TOKEN: `${secret}\u0000`,
      ANALYSIS_ENDPOINT: `https://user:${secret}@models.example.com`,
      ANALYSIS_TOKEN: `${secret} `,
      OIDC_ISSUER: `https://user:${secret}@id.example.com`,
      OIDC_CLIENT_SECRET: `${secret} `,
      PORT: 'x',
    })
    expect(shown.length).toBeGreaterThanOrEqual(8)
    expect(shown.join('\n')).not.toContain(secret)
  })

  test('a value with a line break stays on its line, a long one is cut', () => {
    expect(problems({ LOG_LEVEL: 'in\nfo', PORT: 'x'.repeat(10_000) })).toHaveLength(2)
    expect(problems({ PORT: 'x'.repeat(10_000) })[0]?.length).toBeLessThan(200)
  })

  test('whatever the environment holds, the outcome is a configuration or a ConfigError', () => {
    const env = fc.dictionary(fc.constantFrom(...variables), fc.string({ unit: 'binary' }))
    fc.assert(fc.property(env, (any) => void problems(any)))
  })
})

describe('listening', () => {
  test.each(['localhost', '0.0.0.0', '::', '::1', 'my_service-1.internal'])('HOST=%s is taken', (host) => {
    expect(load({ HOST: host }).host).toBe(host)
  })

  test.each(['[::1]', '127.0.0.1:3000', '999.1.1.1', '10.1', '-a', 'http://localhost', 'a/b', 'ü'])(
    'HOST=%s is refused',
    (host) => {
      expect(problems({ HOST: host })).toHaveLength(1)
    },
  )

  test('PUBLIC_URL loses its trailing slashes and keeps its path', () => {
    expect(load({ PUBLIC_URL: 'https://Calls.example.com/' }).publicUrl).toBe('https://calls.example.com')
    expect(load({ PUBLIC_URL: 'http://localhost:8080/callbook//' }).publicUrl).toBe(
      'http://localhost:8080/callbook',
    )
  })

  test.each([
    'calls.example.com',
    'http:calls',
    'http:/calls',
    'http://',
    'ws://x',
    'https://a b',
    ' https://a',
  ])('PUBLIC_URL=%j is refused', (url) => {
    expect(problems({ PUBLIC_URL: url })).toHaveLength(1)
  })
})

describe('database', () => {
  test('the default file is in DATA_DIR, and characters that a URL would interpret are encoded', () => {
    const config = load({ DATA_DIR: '/var/50% #1?/données' })
    expect(config.dataDir).toBe('/var/50% #1?/données')
    expect(config.databaseFile).toBe('/var/50% #1?/données/callbook.db')
    expect(config.databaseUrl).toBe('file:/var/50%25 %231%3F/données/callbook.db')
  })

  test.each([
    ['file:calls.db', resolve('calls.db')],
    ['file:./a/../calls.db', resolve('calls.db')],
    ['file:/srv/calls.db', '/srv/calls.db'],
    ['file:///srv/calls.db', '/srv/calls.db'],
    ['file://localhost/srv/calls.db', '/srv/calls.db'],
    ['file:/srv/a%20b.db', '/srv/a b.db'],
    ['FILE:/srv/calls.db', '/srv/calls.db'],
  ])('%s is the file %s', (url, file) => {
    expect(load({ DATABASE_URL: url })).toMatchObject({ databaseFile: file, databaseUrl: `file:${file}` })
  })

  test.each([
    'file:',
    'file::memory:',
    'file:a.db?mode=ro',
    'file:a.db#x',
    'file:data/',
    'file://host/a.db',
    'file:%zz',
  ])('%s is refused', (url) => {
    expect(problems({ DATABASE_URL: url })).toHaveLength(1)
  })

  test.each([
    'libsql://db.turso.io',
    'http://127.0.0.1:8080',
    'https://db.example.com',
    'libsql://db:8080?tls=0',
  ])('%s is a remote database', (url) => {
    expect(load({ DATABASE_URL: url })).toMatchObject({ databaseUrl: url, databaseFile: null })
  })

  test.each([
    ':memory:',
    'callbook.db',
    '/srv/calls.db',
    'libsql:db',
    'wss://db',
    'libsql://db?x=1',
    'http://u:p@db',
  ])('%s is not a database', (url) => {
    expect(problems({ DATABASE_URL: url })).toHaveLength(1)
  })

  test('DATABASE_SYNC_URL makes a replica of a file: database only', () => {
    const sync = { DATABASE_SYNC_URL: 'libsql://primary.turso.io' }
    expect(load(sync).databaseSyncUrl).toBe('libsql://primary.turso.io')
    expect(load({ ...sync, DATABASE_URL: 'file:replica.db' }).databaseFile).toBe(resolve('replica.db'))
    expect(problems({ ...sync, DATABASE_URL: 'https://db' })).toEqual([
      'DATABASE_SYNC_URL is set, but DATABASE_URL is remote; accepted: a primary only for a file: DATABASE_URL',
    ])
    expect(problems({ DATABASE_SYNC_URL: 'file:primary.db' })).toHaveLength(1)
  })
})

describe('signing in elsewhere', () => {
  const oidc = {
    OIDC_ISSUER: 'https://id.example.com/realms/acme',
    OIDC_CLIENT_ID: 'callbook',
    OIDC_CLIENT_SECRET: 's3cret',
  }

  test('a provider has an issuer, a client and its secret, and the documented defaults', () => {
    expect(load(oidc).oidc).toEqual({
      issuer: 'https://id.example.com/realms/acme',
      clientId: 'callbook',
      clientSecret: 's3cret',
      name: 'id.example.com',
      allowedDomains: [],
      groupsClaim: 'groups',
      groupRoles: [],
      sessionHours: 12,
      isOnly: false,
    })
  })

  test.each(['http://127.0.0.1:8080', 'http://[::1]/a', 'http://localhost', 'https://accounts.google.com'])(
    'OIDC_ISSUER=%s is taken as it is written',
    (issuer) => {
      expect(load({ ...oidc, OIDC_ISSUER: issuer }).oidc?.issuer).toBe(issuer)
    },
  )

  test.each([
    'http://127.0.0.1.example.com',
    'https://id.example.com/?a=b',
    'https://id.example.com/#a',
    'id',
  ])('OIDC_ISSUER=%s is refused', (issuer) => {
    expect(problems({ ...oidc, OIDC_ISSUER: issuer })).toHaveLength(1)
  })

  test('one of the three without the others is a problem for each of them', () => {
    expect(problems({ OIDC_ISSUER: oidc.OIDC_ISSUER })).toEqual([
      'OIDC_CLIENT_ID is not set; accepted: all of OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, or none',
      'OIDC_CLIENT_SECRET is not set; accepted: all of OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, or none',
    ])
    expect(problems({ ...oidc, OIDC_ISSUER: '' })).toHaveLength(1)
  })

  test('refusing passwords without a provider stops the start', () => {
    expect(problems({ OIDC_ONLY: 'true' }).map((line) => line.split(' ')[0])).toEqual(Object.keys(oidc))
    expect(problems({ OIDC_ONLY: 'false' })).toEqual([])
    expect(load({ ...oidc, OIDC_ONLY: 'true' }).oidc?.isOnly).toBe(true)
  })

  test('groups and projects may have any character', () => {
    const text = 'a=b=Acme: Sales:owner, c\\, d=prj_1:viewer,ACME\\admins=*:member,'
    expect(load({ ...oidc, OIDC_ROLES: text }).oidc?.groupRoles).toEqual([
      { group: 'a=b', project: 'Acme: Sales', role: 'owner' },
      { group: 'c, d', project: 'prj_1', role: 'viewer' },
      { group: 'ACME\\admins', project: '*', role: 'member' },
    ])
  })

  test.each(['a', 'a=b', 'a=b:', 'a=:owner', '=b:owner', 'a=b:Owner', 'a:owner', 'a=b:owner:x'])(
    'OIDC_ROLES=%s is refused',
    (text) => {
      expect(problems({ ...oidc, OIDC_ROLES: text })).toHaveLength(1)
    },
  )

  test('domains are compared in lower case', () => {
    const text = 'Example.com, sub.example.org'
    expect(load({ ...oidc, OIDC_ALLOWED_DOMAINS: text }).oidc?.allowedDomains).toEqual([
      'example.com',
      'sub.example.org',
    ])
    expect(problems({ ...oidc, OIDC_ALLOWED_DOMAINS: 'example.com,' })).toHaveLength(1)
  })
})

describe('embedding', () => {
  test('a token or an endpoint selects Hugging Face, EMBEDDING_PROVIDER=builtin overrules both', () => {
    expect(load({ HF_TOKEN: 'hf_x' }).embedding).toMatchObject({ provider: 'huggingface', token: 'hf_x' })
    const endpoint = 'http://127.0.0.1:8081/'
    expect(load({ EMBEDDING_ENDPOINT: endpoint }).embedding).toMatchObject({
      provider: 'huggingface',
      endpoint,
    })
    expect(load({ HF_TOKEN: 'hf_x', EMBEDDING_PROVIDER: 'builtin' }).embedding.provider).toBe('builtin')
  })

  test('Hugging Face with neither token nor endpoint is a problem', () => {
    expect(problems({ EMBEDDING_PROVIDER: 'huggingface' })).toHaveLength(1)
    expect(problems({ EMBEDDING_PROVIDER: 'huggingface', HF_TOKEN: 'hf_x' })).toEqual([])
    expect(problems({ EMBEDDING_PROVIDER: 'huggingface', EMBEDDING_ENDPOINT: 'http://tei' })).toEqual([])
  })

  const openAi = {
    EMBEDDING_ENDPOINT: 'http://127.0.0.1:11434/v1',
    EMBEDDING_MODEL: 'nomic-embed-text:latest',
  }

  test.each(['/v1', '/v1/', '/openai/v1'])(
    'an endpoint that ends in %s is asked in OpenAI’s format',
    (path) => {
      const env = { ...openAi, EMBEDDING_ENDPOINT: `http://127.0.0.1:11434${path}` }
      expect(load(env).embedding).toEqual({
        provider: 'openai',
        model: 'nomic-embed-text:latest',
        endpoint: env.EMBEDDING_ENDPOINT,
        token: null,
      })
    },
  )

  test('EMBEDDING_PROVIDER decides the format, whatever the endpoint ends in', () => {
    const hub = { EMBEDDING_PROVIDER: 'huggingface', EMBEDDING_MODEL: 'BAAI/bge-m3' }
    expect(load({ ...openAi, ...hub }).embedding.provider).toBe('huggingface')
    const tei = { EMBEDDING_PROVIDER: 'openai', EMBEDDING_ENDPOINT: 'http://127.0.0.1:8080' }
    expect(load({ ...openAi, ...tei }).embedding.provider).toBe('openai')
  })

  test('OpenAI’s format needs an endpoint and the name of a model', () => {
    const { EMBEDDING_ENDPOINT } = openAi
    expect(problems({ EMBEDDING_ENDPOINT })).toEqual([expect.stringContaining('EMBEDDING_MODEL is not set')])
    expect(problems({ ...openAi, EMBEDDING_MODEL: 'a b' })).toHaveLength(1)
    expect(problems({ ...openAi, EMBEDDING_MODEL: 'x'.repeat(201) })).toHaveLength(1)
    expect(problems({ EMBEDDING_PROVIDER: 'openai', EMBEDDING_MODEL: 'm' })).toHaveLength(1)
    expect(problems({ ...openAi, EMBEDDING_ENDPOINT: `${EMBEDDING_ENDPOINT}/embeddings` })).toEqual([
      expect.stringContaining('EMBEDDING_ENDPOINT ends in /embeddings'),
    ])
  })

  test('a token goes where it is meant to go', () => {
    const tokens = { EMBEDDING_TOKEN: 'sk', HF_TOKEN: 'hf_x' }
    const tei = { EMBEDDING_ENDPOINT: 'http://tei' }
    expect(load({ ...openAi, ...tokens }).embedding.token).toBe('sk')
    expect(load({ ...openAi, HF_TOKEN: 'hf_x' }).embedding.token).toBeNull()
    expect(load({ ...tei, ...tokens }).embedding.token).toBe('sk')
    expect(load({ ...tei, HF_TOKEN: 'hf_x' }).embedding.token).toBe('hf_x')
    expect(load(tokens).embedding.token).toBe('hf_x')
  })

  test.each(['bert-base', 'intfloat/e5-small-v2'])('EMBEDDING_MODEL=%s is taken', (model) => {
    expect(load({ EMBEDDING_MODEL: model }).embedding.model).toBe(model)
  })
})

describe('a model in this process', () => {
  test.each(['BAAI/bge-small-en-v1.5', './models/bge-small', '../models', '/models/bge', '.'])(
    'may be %s',
    (model) => {
      const { embedding } = load({ EMBEDDING_PROVIDER: 'local', EMBEDDING_MODEL: model, HF_TOKEN: 'hf_x' })
      expect(embedding).toMatchObject({ provider: 'local', model, token: 'hf_x' })
    },
  )

  test.each(['models/bge/small', '~/models', '..bge', 'a b'])('is no %s', (model) => {
    const [problem] = problems({ EMBEDDING_PROVIDER: 'local', EMBEDDING_MODEL: model })
    expect(problem).toContain(
      'a model id such as BAAI/bge-small-en-v1.5, or a folder such as ./models/bge-small',
    )
  })

  test('is asked for: a folder is no model for another provider', () => {
    expect(problems({ EMBEDDING_MODEL: './models/bge-small' })).toHaveLength(1)
  })
})

describe('trusted proxies', () => {
  test('entries are trimmed and kept', () => {
    const { trustedProxies } = load({ TRUSTED_PROXIES: ' 10.0.0.0/8, ::1 ,::ffff:10.0.0.0/104' })
    expect(trustedProxies).toEqual(['10.0.0.0/8', '::1', '::ffff:10.0.0.0/104'])
  })

  test('each bad entry is named with its place, a wildcard among them', () => {
    const found = problems({ TRUSTED_PROXIES: '10.0.0.1,*,010.0.0.1,10.0.0.0/33,::1/129,::ffff:10.0.0.0/8,' })
    expect(found.map((line) => /has "(.*)" as entry (\d)/.exec(line)?.slice(1))).toEqual([
      ['*', '2'],
      ['010.0.0.1', '3'],
      ['10.0.0.0/33', '4'],
      ['::1/129', '5'],
      ['::ffff:10.0.0.0/8', '6'],
      ['', '7'],
    ])
  })

  test('what the configuration accepts, the address rules accept as well', () => {
    const bits = fc.oneof(
      fc.constant(''),
      fc.nat(140).map((n) => `/${n}`),
    )
    const mapped = fc.ipV4().map((address) => `::ffff:${address}`)
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6(),
      mapped,
      fc.constantFrom('fe80::1%eth0', '*', ''),
    )
    fc.assert(
      fc.property(fc.tuple(address, bits), ([host, suffix]) => {
        const entry = host + suffix
        const isAccepted = problems({ TRUSTED_PROXIES: entry || ' ' }).length === 0
        const isCompatible = /^::[0-9.]+\//.test(entry)
        if (!isCompatible) expect(isAccepted).toBe(entry !== '*' && validateIpEntries([entry]).length === 0)
        if (isAccepted) compileIpRules([entry])
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the analysis', () => {
  const endpoint = 'http://127.0.0.1:8080/v1'

  test('is off without a model, and with one takes an endpoint or a token of Hugging Face', () => {
    expect(load({ ANALYSIS_ENDPOINT: endpoint }).analysis).toBeNull()
    expect(problems({ ANALYSIS_MODEL: 'llama3.1:8b' })).toHaveLength(1)
    expect(load({ ANALYSIS_MODEL: 'llama3.1:8b', ANALYSIS_ENDPOINT: endpoint }).analysis).toEqual({
      model: 'llama3.1:8b',
      endpoint,
      token: null,
      delayMs: 60_000,
      contextTokens: 32_768,
      requestsAtOnce: 4,
      requestsPerMinute: 0,
    })
  })

  test("never sends Hugging Face's token to an endpoint", () => {
    const env = { ANALYSIS_MODEL: 'org/model', HF_TOKEN: 'hf_x' }
    expect(load(env).analysis?.token).toBe('hf_x')
    expect(load({ ...env, ANALYSIS_ENDPOINT: endpoint }).analysis?.token).toBeNull()
    expect(load({ ...env, ANALYSIS_TOKEN: 'own', ANALYSIS_ENDPOINT: endpoint }).analysis?.token).toBe('own')
  })
})
