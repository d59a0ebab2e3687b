import type { Command } from 'commander'
import { webhookEvents } from '../../src/webhooks/events.ts'
import type { WebhookRecord } from '../../src/webhooks/webhooks.ts'
import { type AsJson, type OfProject, projectOption } from './options.ts'
import { collect, namingOptions, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface CreateOptions extends OfProject {
  url: string
  event?: string[]
  details?: true
}

export function addWebhookCommands(program: Command, shell: Shell): void {
  const webhook = program
    .command('webhook')
    .description('Endpoints that receive the events of a project, signed as Standard Webhooks specifies.')
  addCreate(webhook, shell)
  addList(webhook, shell)
  addDeliveries(webhook, shell)
  addRotate(webhook, shell)
  addReplay(webhook, shell)
  addEnable(webhook, shell)
  addRemove(webhook, shell)
}

function addCreate(webhook: Command, shell: Shell): void {
  webhook
    .command('create')
    .description('Create a webhook. Its secret is shown only once.')
    .requiredOption(...projectOption)
    .requiredOption('--url <url>', 'where to send events: an https URL at a public address')
    .option(
      '--event <event>',
      `one of ${webhookEvents.join(', ')}; can be repeated (default: all of them)`,
      collect,
    )
    .option('--details', 'send calls with their details')
    .option('--json', 'print {"id","url","events","secret"}')
    .action(async ({ project, url, event, details, json }: CreateOptions) => {
      const made = await shell.inProject(project, ({ webhooks }, projectId) =>
        webhooks.create(projectId, { url, events: event, details }).catch(toOptions),
      )
      await shell.answer(json, made, [
        made.secret,
        '',
        `This is the secret of the webhook ${made.id}. It is shown only once. Store it now.`,
      ])
    })
}

function addList(webhook: Command, shell: Shell): void {
  webhook
    .command('list')
    .description('List the webhooks.')
    .option('--project <project>', 'id or name of a project (default: all projects)')
    .option(
      '--json',
      'print an array of {"id","url","events","enabled","pending","failures","lastSuccessAt"}',
    )
    .action(async ({ project, json }: { project?: string; json?: true }) => {
      const all = await shell.withServices(async (services) => {
        const some = await shell.projects(services, project)
        return (await Promise.all(some.map(({ projectId }) => services.webhooks.list(projectId)))).flat()
      })
      const rows = all.map((record) => [
        record.id,
        record.url,
        record.events.length === webhookEvents.length ? 'all' : record.events.join(' '),
        String(record.pending),
        stateOf(record),
      ])
      const values = all.map(({ id, url, events, enabled, pending, failures, lastSuccessAt }) => {
        return { id, url, events, enabled, pending, failures, lastSuccessAt }
      })
      const head = ['ID', 'URL', 'EVENTS', 'PENDING', 'STATE']
      await shell.answerList(json, values, { head, rows, none: 'There are no webhooks yet.' })
    })
}

function addDeliveries(webhook: Command, shell: Shell): void {
  webhook
    .command('deliveries')
    .description(
      'List the latest delivery attempts of a webhook, newest first. Attempts are kept for 30 days.',
    )
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print an array')
    .action(async (id: string, { json }: AsJson) => {
      const attempts = await shell.inProjectOf('webhooks', id, ({ deliveries }, projectId) =>
        deliveries.list(projectId, id),
      )
      const rows = attempts.map(({ at, event, seq, attempt, status, error, durationMs, bytes }) => {
        const answer = String(status ?? error ?? '')
        return [at, event, String(seq), String(attempt), answer, `${durationMs} ms`, `${bytes} B`]
      })
      const head = ['AT', 'EVENT', 'SEQ', 'ATTEMPT', 'ANSWER', 'TIME', 'SIZE']
      await shell.answerList(json, attempts, { head, rows, none: 'Nothing has been sent yet.' })
    })
}

function addRotate(webhook: Command, shell: Shell): void {
  webhook
    .command('rotate')
    .description('Create a new secret. For 24 hours, events are signed with the old one, too.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print {"id","secret"}')
    .action(async (id: string, { json }: AsJson) => {
      const made = await shell.inProjectOf('webhooks', id, ({ webhooks }, projectId) =>
        webhooks.rotate(projectId, id),
      )
      await shell.answer(json, made, [
        made.secret,
        '',
        `This is the new secret of the webhook ${id}. It is shown only once. Store it now.`,
      ])
    })
}

function addReplay(webhook: Command, shell: Shell): void {
  webhook
    .command('replay')
    .description('Send every record that changed after a given change again, in its current state.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .requiredOption(
      '--after <seq>',
      'number (seq) of a change; sends what changed after it, 0 sends everything',
    )
    .option('--json', 'print {"id","queued"}')
    .action(async (id: string, { after, json }: { after: string; json?: true }) => {
      const seq = /^[0-9]{1,15}$/.test(after) ? Number(after) : Number.NaN
      const done = await shell.inProjectOf('webhooks', id, ({ webhooks }, projectId) =>
        webhooks.replay(projectId, id, seq).catch(toOptions),
      )
      await shell.answer(json, done, `${done.queued} events are waiting to be sent to ${shown(id)}.`)
    })
}

function addEnable(webhook: Command, shell: Shell): void {
  webhook
    .command('enable')
    .description('Enable a disabled webhook and send the events that it missed.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print {"id","queued"}')
    .action(async (id: string, { json }: AsJson) => {
      const done = await shell.inProjectOf('webhooks', id, ({ webhooks }, projectId) =>
        webhooks.enable(projectId, id),
      )
      await shell.answer(
        json,
        done,
        `Enabled ${shown(id)}. It missed ${done.queued} events, which are now sent.`,
      )
    })
}

function addRemove(webhook: Command, shell: Shell): void {
  webhook
    .command('remove')
    .description('Delete a webhook and its waiting events.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print {"id","deleted"}')
    .action(async (id: string, { json }: AsJson) => {
      const done = await shell.inProjectOf('webhooks', id, ({ webhooks }, projectId) =>
        webhooks.delete(projectId, id),
      )
      await shell.answer(json, done, `Deleted the webhook ${shown(id)}.`)
    })
}

function stateOf({ enabled, disabledAt, disabledReason, failures, lastSuccessAt }: WebhookRecord): string {
  if (!enabled) return `disabled ${disabledAt}: ${disabledReason}`
  if (failures > 0) return `${failures} failures since the last success`
  return lastSuccessAt === null ? 'nothing sent yet' : `last success ${lastSuccessAt}`
}

const options: Record<string, string> = { url: '--url', events: '--event', after: '--after', id: 'webhook' }
const toOptions = namingOptions(({ field, message }) => ({
  field: options[field.replace(/\.\d+$/, '')] ?? field,
  message,
}))
