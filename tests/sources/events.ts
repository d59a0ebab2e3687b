import type { AgentCall } from '@cartesia/cartesia-js/resources/agents/calls'
import type { ConversationChargingCommonModel } from '@elevenlabs/elevenlabs-js/serialization'
import type { PhoneCallResponse } from 'retell-sdk/resources/call'
import type { CallCostWebhookEvent } from 'telnyx/resources/webhooks'
import type { SourceUpdate } from '../../src/sources/event.ts'
import type { platforms } from '../../src/sources/platforms.ts'
import bland from './events/bland.json' with { type: 'json' }
import cartesia from './events/cartesia.json' with { type: 'json' }
import dograh from './events/dograh.json' with { type: 'json' }
import elevenlabs from './events/elevenlabs.json' with { type: 'json' }
import retell from './events/retell.json' with { type: 'json' }
import synthflow from './events/synthflow.json' with { type: 'json' }
import telnyx from './events/telnyx.json' with { type: 'json' }
import ultravox from './events/ultravox.json' with { type: 'json' }
import vapi from './events/vapi.json' with { type: 'json' }

/** The events of one call in their order, and what the last of them says. Wherever a secret may stand is `never-store-this`. */
interface Session {
  id: string
  events: object[]
  last: Omit<SourceUpdate, 'id'>
}

// `costs` of Vapi's report is `ServerMessageEndOfCallReportCostsItem[]` of @vapi-ai/server-sdk 2.0.1, which names no
// licence and is no dependency.
export const sessions = {
  bland,
  cartesia,
  dograh,
  elevenlabs,
  retell,
  synthflow,
  telnyx,
  ultravox,
  vapi,
} as Record<keyof typeof platforms, Session>

// Parts of them as the platforms' own packages describe them.
cartesia.events[0]?.call satisfies Omit<AgentCall, 'status' | 'transcript'> | undefined
elevenlabs.events[0]?.data.metadata.charging satisfies ConversationChargingCommonModel.Raw | undefined
retell.events[0]?.call.call_cost satisfies PhoneCallResponse.CallCost | undefined
telnyx.events[0]?.data.payload satisfies CallCostWebhookEvent.Data.Payload | undefined
