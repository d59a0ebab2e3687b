/** What a person has to know to set up a platform. */
interface PlatformSetUp {
  readonly label: string
  /** Who makes the secret that signs its events. */
  readonly secretFrom: 'us' | 'platform'
  /** What the platform calls the secret, and where it shows it. */
  readonly secretName: string
  /** An option that may bring the secret as well. */
  readonly secretOption?: string
  /** Options for what no event tells, and their possible values; null for any text. */
  readonly options: Readonly<Record<string, readonly string[] | null>>
  /** The options that it cannot do without. */
  readonly required?: readonly string[]
  /** What the platform calls the key that opens its API, and where it shows it, if recordings can be fetched with it. */
  readonly apiKeyName?: string
  /** Whether its past calls cannot be asked for. */
  readonly hasNoHistory?: true
  /** Whether it reports a call while it is going on. */
  readonly isLive: boolean
  /** The environment variable that makes it send here. Others send to the address of their source. */
  readonly variable?: string
}

/** Whether to keep what the platform's user attached to a call: its own metadata or variables. */
const ownKeys = { metadata: ['keep'] } as const
/** Whether to keep what tools received and returned, too. */
const ownKeysAndTools = { ...ownKeys, tools: ['keep'] } as const
/** Also the tags within which it answers questions, separated by commas. */
const ofLookUps = { ...ownKeysAndTools, tags: null } as const

/** The supported platforms. Pure, so that the console's page may use it. */
export const catalog = {
  vapi: {
    label: 'Vapi',
    secretFrom: 'us',
    secretName: 'Bearer token of a custom credential',
    apiKeyName: 'Private API key from the dashboard',
    options: ofLookUps,
    isLive: true,
  },
  retell: {
    label: 'Retell',
    secretFrom: 'platform',
    secretName: 'API key that is marked for webhooks',
    apiKeyName: 'API key',
    options: ofLookUps,
    isLive: true,
  },
  elevenlabs: {
    label: 'ElevenLabs',
    secretFrom: 'platform',
    secretName: 'Secret from Settings, Webhooks (shown once)',
    apiKeyName: 'API key from Settings, API Keys',
    options: ownKeysAndTools,
    isLive: false,
  },
  bland: {
    label: 'Bland',
    secretFrom: 'platform',
    secretName: 'Webhook signing secret from Account settings, Keys',
    apiKeyName: 'API key from Account settings, Keys',
    options: ownKeys,
    isLive: false,
  },
  telnyx: {
    label: 'Telnyx',
    secretFrom: 'platform',
    secretName: 'Public key from Keys & Credentials',
    apiKeyName: 'API key from Keys & Credentials',
    options: { summaryInsight: null },
    hasNoHistory: true,
    isLive: true,
  },
  ultravox: {
    label: 'Ultravox',
    secretFrom: 'us',
    secretName: 'One of the `secrets` of the webhook',
    apiKeyName: 'API key',
    options: ownKeys,
    isLive: true,
  },
  synthflow: {
    label: 'Synthflow',
    secretFrom: 'platform',
    secretName: 'Secret from Settings, Security, Webhooks',
    apiKeyName: 'API key from Settings, API',
    options: { direction: ['inbound', 'outbound'], ...ownKeys },
    isLive: false,
  },
  cartesia: {
    label: 'Cartesia',
    secretFrom: 'platform',
    secretName: 'Webhook secret, sent as X-Webhook-Secret',
    apiKeyName: 'API key from the playground, API Keys',
    options: ownKeys,
    isLive: true,
  },
  dograh: {
    label: 'Dograh',
    secretFrom: 'us',
    secretName: 'Bearer token of the webhook node',
    apiKeyName: 'API key from the developer settings',
    options: ownKeys,
    isLive: false,
  },
  livekit: {
    label: 'LiveKit Agents',
    secretFrom: 'platform',
    secretName: 'API secret, LIVEKIT_API_SECRET of the agent',
    secretOption: 'apiSecret',
    options: { apiKey: null },
    required: ['apiKey'],
    hasNoHistory: true,
    isLive: true,
    variable: 'LIVEKIT_OBSERVABILITY_URL',
  },
} as const satisfies Record<string, PlatformSetUp>

export type PlatformName = keyof typeof catalog

/** Agents of LiveKit send to /observability instead. */
export type WebhookPlatform = Exclude<PlatformName, 'livekit'>

export function setUpOf(platform: PlatformName): PlatformSetUp {
  return catalog[platform]
}

export function isPlatform(name: string): name is PlatformName {
  return Object.hasOwn(catalog, name)
}

export const platformNames = Object.keys(catalog) as PlatformName[]

/** The names of the frameworks whose sessions arrive by OpenTelemetry. */
export const frameworkLabels = { livekit: 'LiveKit Agents', pipecat: 'Pipecat' } as const
