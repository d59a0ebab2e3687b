import { platformLabels } from './labels.ts'

/** How a platform is set up, as far as a person has to know. */
interface PlatformSetUp {
  /** As people know it. */
  readonly label: string
  /** Who makes the secret that its events are signed with. */
  readonly secretFrom: 'us' | 'platform'
  /** What the secret is called there, and where it stands. */
  readonly secretName: string
  /** What the user may say because no event does: the values that an option may have; null for any text. */
  readonly options: Readonly<Record<string, readonly string[] | null>>
  /** Whether it reports a call while it is going on. */
  readonly isLive: boolean
}

const none = {}

/** Every platform whose webhooks are understood. Pure, so that the console's page may use it. */
export const catalog = {
  vapi: {
    label: platformLabels.vapi,
    secretFrom: 'us',
    secretName: 'Bearer token of a custom credential',
    options: none,
    isLive: true,
  },
  retell: {
    label: platformLabels.retell,
    secretFrom: 'platform',
    secretName: 'API key that is marked for webhooks',
    options: none,
    isLive: true,
  },
  elevenlabs: {
    label: platformLabels.elevenlabs,
    secretFrom: 'platform',
    secretName: 'Secret that Settings, Webhooks shows once',
    options: none,
    isLive: false,
  },
  bland: {
    label: platformLabels.bland,
    secretFrom: 'platform',
    secretName: 'Webhook signing secret of Account settings, Keys',
    options: none,
    isLive: false,
  },
  telnyx: {
    label: platformLabels.telnyx,
    secretFrom: 'platform',
    secretName: 'Public key of Keys & Credentials',
    options: { summaryInsight: null },
    isLive: true,
  },
  ultravox: {
    label: platformLabels.ultravox,
    secretFrom: 'us',
    secretName: 'One of the `secrets` of the webhook',
    options: none,
    isLive: true,
  },
  synthflow: {
    label: platformLabels.synthflow,
    secretFrom: 'platform',
    secretName: 'Secret of Settings, Security, Webhooks',
    options: { direction: ['inbound', 'outbound'] },
    isLive: false,
  },
  cartesia: {
    label: platformLabels.cartesia,
    secretFrom: 'platform',
    secretName: 'Webhook secret, sent as X-Webhook-Secret',
    options: none,
    isLive: true,
  },
  dograh: {
    label: platformLabels.dograh,
    secretFrom: 'us',
    secretName: 'Bearer token of the webhook node',
    options: none,
    isLive: false,
  },
} as const satisfies Record<string, PlatformSetUp>

export type PlatformName = keyof typeof catalog

/** How the platform is set up. */
export function setUpOf(platform: PlatformName): PlatformSetUp {
  return catalog[platform]
}

export function isPlatform(name: string): name is PlatformName {
  return Object.hasOwn(catalog, name)
}

export const platformNames = Object.keys(catalog) as PlatformName[]
