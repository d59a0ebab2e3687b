import { useQuery } from '@tanstack/react-query'
import { type PlatformName, setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { read } from '../../api.ts'
import { useProject } from '../../session.ts'

/** How often to look for the first event, and for further ones. */
const waitingMs = 2_000
export const watchingMs = 10_000

/** A source, without its secret. */
export function useSource(id: string) {
  const { of } = useProject()
  return useQuery({
    ...read(of.sources({ id })),
    refetchInterval: ({ state }) => (state.data?.lastEventAt ? watchingMs : waitingMs),
  })
}

/** The newest call whose details name the source, and how many there are. `isAwaited` looks for the first more often. */
export function useLastCall(source: string, isAwaited = false) {
  const { of } = useProject()
  return useQuery({
    ...read(of.calls, { source, limit: '1' }),
    refetchInterval: ({ state }) => (isAwaited && !state.data?.data.length ? waitingMs : watchingMs),
  })
}

/** The address that the platform sends to, or the variable that tells it. */
export function addressOf({ id, platform }: Pick<SourceRecord, 'id' | 'platform'>): string {
  const { variable } = setUpOf(platform)
  return variable ? `${variable}=${location.origin}` : `${location.origin}/ingest/from/${id}`
}

/** What the platform sends: the word for one of them. */
export function sentBy(platform: PlatformName): 'event' | 'session' {
  return setUpOf(platform).variable ? 'session' : 'event'
}

/** How a platform is told of the address, in its own words: the same as the guide says. */
export const sourceSteps: Record<PlatformName, readonly string[]> = {
  vapi: [
    'Create a custom credential of type Bearer Token with the secret.',
    'Set the address as the server URL, with that credential, on the organization, a phone number or an assistant (Advanced, Webhook server). Each event goes only to the most specific one.',
    'Keep status-update, conversation-update and end-of-call-report in the server messages.',
    'Set a backoffPlan on the server, so that Vapi retries events that did not arrive.',
  ],
  retell: [
    'Set the address as the webhook URL of the account or of one agent.',
    'To see turns during the call, add the event transcript_updated.',
    'Above, paste the API key that is marked for webhooks.',
  ],
  elevenlabs: [
    'Under Settings, Webhooks, add a webhook with the address and HMAC authentication.',
    'Paste its secret above. ElevenLabs shows it only once.',
    'Select it as the post-call webhook of all agents or of one. Send transcripts (as JSON) and call initiation failures. Leave audio off.',
    'Turn on its retries.',
  ],
  bland: [
    'Set the address as the webhook of the inbound number, under Advanced, and of each call that you start through the API.',
    'Above, paste the webhook signing secret. You find it under Account settings, Keys.',
  ],
  telnyx: [
    'Set the address as the webhook URL of the Voice API or TeXML application.',
    'Above, paste the public key. You find it under Keys & Credentials.',
    'Telnyx sends no transcript, so the calls have none.',
  ],
  ultravox: [
    'Create a webhook with POST /api/webhooks: the address as url, the events call.started, call.joined, call.ended and call.billed, and the secret as one of its secrets.',
    'To record the numbers, put callerNumber and calledNumber into each call’s metadata.',
    'Ultravox sends no transcript with its events. Poll its API for them.',
  ],
  synthflow: [
    "Set the address as the agent's post-call webhook, or as external_webhook_url of a call.",
    'Above, paste the secret from Settings, Security, Webhooks.',
    'Synthflow signs the call’s ID and not the body, so keep the address secret.',
  ],
  cartesia: [
    "Under the agent's Advanced settings, add a post-call webhook with the address.",
    'Paste its secret above.',
  ],
  dograh: [
    'Add a webhook node at the end of the workflow with the address, and the secret as its bearer token.',
    'Use this template as its body.',
  ],
  livekit: [
    'Set the variable for the agent’s process, beside LIVEKIT_API_KEY and LIVEKIT_API_SECRET.',
    'With a LiveKit server of your own, also start the session with record=True.',
    'Agents in Node do not read the variable yet. Use OpenTelemetry for them.',
  ],
}

/** What is pasted into the platform beside the address and the secret. */
export const sourceTemplates: { readonly [Name in PlatformName]?: string } = {
  dograh: JSON.stringify(
    {
      id: '{{workflow_run_id}}',
      agent: '{{workflow_name}}',
      calledAt: '{{call_time}}',
      caller: '{{initial_context.caller_number}}',
      called: '{{initial_context.called_number}}',
      duration: '{{cost_info.call_duration_seconds}}',
      disposition: '{{gathered_context.call_disposition}}',
      analysis: '{{annotations}}',
    },
    null,
    2,
  ),
}

/** Platforms whose agents may ask for knowledge at the address of the source. */
export const answersLookUps: readonly PlatformName[] = ['vapi', 'retell']
