/** The platforms whose webhooks are understood, as people know them. */
export const platformLabels = {
  vapi: 'Vapi',
  retell: 'Retell',
  elevenlabs: 'ElevenLabs',
  bland: 'Bland',
  telnyx: 'Telnyx',
  ultravox: 'Ultravox',
  synthflow: 'Synthflow',
  cartesia: 'Cartesia',
  dograh: 'Dograh',
} as const

/** The frameworks whose sessions come by OpenTelemetry, as people know them. */
export const frameworkLabels = { livekit: 'LiveKit Agents', pipecat: 'Pipecat' } as const
