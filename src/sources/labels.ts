/** The names of the supported platforms. */
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

/** The names of the frameworks whose sessions arrive by OpenTelemetry. */
export const frameworkLabels = { livekit: 'LiveKit Agents', pipecat: 'Pipecat' } as const
