import type { Command } from 'commander'
import { webhookEvents } from '../../src/webhooks/events.ts'
import type { WebhookRecord } from '../../src/webhooks/webhooks.ts'
import { columns, namingOptions, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface CreateOptions {
  project: string
  url: string
  event?: string[]
  json?: true
}

export function addWebhookCommands(program: Command, shell: Shell): void {
  const webhook = program
    .command('webhook')
    .description('Endpoints that events of a project are sent to, signed as Standard Webhooks.')
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
    .description('Create a webhook. Its secret is shown only now.')
    .requiredOption('--project <project>', 'id or name of the project')
    .requiredOption('--url <url>', 'where to send events: https, and a public address')
    .option(
      '--event <event>',
      `one of ${webhookEvents.join(', ')}; may be repeated (default: all of them)`,
      (event: string, events: string[] = []) => [...events, event],
    )
    .option('--json', 'print {"id","url","events","secret"}')
    .action(async ({ project, url, event, json }: CreateOptions) => {
      const made = await shell.withServices(async ({ projects, webhooks }) => {
        const { projectId } = await projects.find(project)
        return await webhooks.create(projectId, { url, events: event }).catch(toOptions)
      })
      await shell.answer(json, made, [
        made.secret,
        '',
        `This is the secret of the webhook ${made.id}. It is shown only now: store it.`,
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
      const all = await shell.withServices(async ({ projects, webhooks }) => {
        const some = project === undefined ? await projects.list() : [await projects.find(project)]
        return (await Promise.all(some.map(({ projectId }) => webhooks.list(projectId)))).flat()
      })
      const rows = all.map((record) => [
        record.id,
        record.url,
        record.events.length === webhookEvents.length ? 'all' : record.events.join(' '),
        String(record.pending),
        stateOf(record),
      ])
      await shell.answer(
        json,
        all.map(({ id, url, events, enabled, pending, failures, lastSuccessAt }) => ({
          ...{ id, url, events, enabled, pending, failures, lastSuccessAt },
        })),
        rows.length > 0
          ? columns([['ID', 'URL', 'EVENTS', 'PENDING', 'STATE'], ...rows])
          : 'There are no webhooks yet.',
      )
    })
}

function addDeliveries(webhook: Command, shell: Shell): void {
  webhook
    .command('deliveries')
    .description(
      'List the newest tries to send events to a webhook, newest first. Tries are kept for 30 days.',
    )
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print an array')
    .action(async (id: string, { json }: { json?: true }) => {
      const tries = await shell.withServices(async ({ webhooks }) =>
        webhooks.tries(await webhooks.projectOf(id), id),
      )
      const rows = tries.map(({ at, event, seq, attempt, status, error, durationMs, bytes }) => [
        ...[at, event, String(seq), String(attempt), String(status ?? error ?? '')],
        ...[`${durationMs} ms`, `${bytes} B`],
      ])
      const head = ['AT', 'EVENT', 'SEQ', 'TRY', 'ANSWER', 'TIME', 'SIZE']
      await shell.answer(
        json,
        tries,
        rows.length > 0 ? columns([head, ...rows]) : 'Nothing has been sent yet.',
      )
    })
}

function addRotate(webhook: Command, shell: Shell): void {
  webhook
    .command('rotate')
    .description('Make a new secret. For 24 hours the old one signs, too.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print {"id","secret"}')
    .action(async (id: string, { json }: { json?: true }) => {
      const made = await shell.withServices(async ({ webhooks }) =>
        webhooks.rotate(await webhooks.projectOf(id), id),
      )
      await shell.answer(json, made, [
        made.secret,
        '',
        `This is the new secret of the webhook ${id}. It is shown only now: store it.`,
      ])
    })
}

function addReplay(webhook: Command, shell: Shell): void {
  webhook
    .command('replay')
    .description('Send every record that has changed since a change once more, as it is now.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .requiredOption('--after <seq>', 'number (seq) of the last change not to send; 0 sends everything')
    .option('--json', 'print {"id","queued"}')
    .action(async (id: string, { after, json }: { after: string; json?: true }) => {
      const seq = /^[0-9]{1,15}$/.test(after) ? Number(after) : Number.NaN
      const done = await shell.withServices(async ({ webhooks }) =>
        webhooks.replay(await webhooks.projectOf(id), id, seq).catch(toOptions),
      )
      await shell.answer(json, done, `${done.queued} events wait to be sent to ${shown(id)}.`)
    })
}

function addEnable(webhook: Command, shell: Shell): void {
  webhook
    .command('enable')
    .description('Switch a webhook on that was switched off, and send what it has missed.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print {"id","queued"}')
    .action(async (id: string, { json }: { json?: true }) => {
      const done = await shell.withServices(async ({ webhooks }) =>
        webhooks.enable(await webhooks.projectOf(id), id),
      )
      await shell.answer(json, done, `Switched on ${shown(id)}. It has missed ${done.queued} events.`)
    })
}

function addRemove(webhook: Command, shell: Shell): void {
  webhook
    .command('remove')
    .alias('delete')
    .description('Remove a webhook with what waits for it.')
    .argument('<id>', 'id of the webhook (wh_…)')
    .option('--json', 'print {"id","removed"}')
    .action(async (id: string, { json }: { json?: true }) => {
      const done = await shell.withServices(async ({ webhooks }) =>
        webhooks.remove(await webhooks.projectOf(id), id),
      )
      await shell.answer(json, done, `Removed the webhook ${shown(id)}.`)
    })
}

function stateOf({ enabled, disabledAt, disabledReason, failures, lastSuccessAt }: WebhookRecord): string {
  if (!enabled) return `switched off ${disabledAt}: ${disabledReason}`
  if (failures > 0) return `${failures} failures since the last success`
  return lastSuccessAt === null ? 'nothing sent yet' : `last success ${lastSuccessAt}`
}

const options: Record<string, string> = { url: '--url', events: '--event', after: '--after', id: 'webhook' }
const toOptions = namingOptions(({ field, message }) => ({
  field: options[field.replace(/\.\d+$/, '')] ?? field,
  message,
}))
