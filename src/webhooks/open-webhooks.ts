import { compileIpRules } from '../access/keys/ip-rules.ts'
import type { Calls } from '../calls/calls.ts'
import type { Core } from '../core/core.ts'
import type { Erasure } from '../erasure/erasure.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { Addresses } from './addresses.ts'
import { Deliveries } from './deliveries.ts'
import { Messages } from './message.ts'
import { WebhookQueue } from './queue.ts'
import { WebhookSender } from './sender.ts'
import { Webhooks } from './webhooks.ts'

/** What tells others of changes and of erasures. */
export function openWebhooks(core: Core, beside: { erasure: Erasure; calls: Calls; knowledge: Knowledge }) {
  const { webhookAllowPrivate: ranges } = core.config
  const addresses = new Addresses({ allowList: ranges.length > 0 ? compileIpRules(ranges) : null })
  const queue = new WebhookQueue(core)
  const webhooks = new Webhooks(core, { ...beside, queue, addresses })
  core.jobs.addExpiry('webhooks', async () => {
    await webhooks.expireSecrets()
    await webhooks.expireAnswers()
  })
  const messages = new Messages(core, { ...beside, queue })
  new WebhookSender(core, { queue, messages, addresses, webhooks })
  return { addresses, webhooks, deliveries: new Deliveries(core, { webhooks, messages, addresses }) }
}
