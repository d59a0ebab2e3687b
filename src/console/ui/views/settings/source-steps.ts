import type { PlatformName } from '../../../../sources/catalog.ts'

/** How a platform is told of the address, in its own words: the same as the guide says. */
export const sourceSteps: Record<PlatformName, readonly string[]> = {
  vapi: [
    'Make a custom credential of the type Bearer Token with the secret.',
    'Set the address as the server URL, with that credential: of the organisation, a phone number or an assistant (Advanced, Webhook server). Only the most specific one gets an event.',
    'Leave status-update, conversation-update and end-of-call-report among the server messages.',
    'Set a backoffPlan on the server, so that Vapi repeats an event that did not arrive.',
  ],
  retell: [
    'Set the address as the webhook URL, of the account or of one agent.',
    'To see the turns of a call while it goes on, add the event transcript_updated.',
    'Paste the API key that is marked for webhooks above.',
  ],
  elevenlabs: [
    'Under Settings, Webhooks, add a webhook with the address and HMAC authentication.',
    'Paste its secret above. ElevenLabs shows it once.',
    'Choose it as the post-call webhook of all agents or of one. Send transcripts (as JSON) and call initiation failures; leave audio off.',
    'Switch on its retries.',
  ],
  bland: [
    'Set the address as the webhook: of an inbound number under Advanced, and as webhook of each call that you start by its API.',
    'Paste the webhook signing secret above. It is under Account settings, Keys.',
  ],
  telnyx: [
    'Set the address as the webhook URL of the Voice API or TeXML application.',
    'Paste the public key above. It is under Keys & Credentials.',
    'Telnyx sends no transcript, so the calls have none.',
  ],
  ultravox: [
    'Create a webhook by POST /api/webhooks with the address as url, the events call.started, call.joined, call.ended and call.billed, and the secret as one of its secrets.',
    'For the numbers, put callerNumber and calledNumber into the metadata of each call.',
    'Ultravox sends no transcript, so the calls have none.',
  ],
  synthflow: [
    "Set the address as the agent's post-call webhook, or as external_webhook_url of a call.",
    'Paste the secret of Settings, Security, Webhooks above.',
    'Synthflow signs the id of the call and not the body: keep the address to yourself.',
  ],
  cartesia: [
    "Under the agent's Advanced settings, add a post-call webhook with the address.",
    'Paste its secret above.',
  ],
  dograh: [
    'Add a webhook node at the end of the workflow with the address, and the secret as its bearer token.',
    'Use this template as its body.',
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
