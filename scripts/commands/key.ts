import { type Command, Option } from 'commander'
import type { KeyRecord } from '../../src/access/keys/key-record.ts'
import { AppError, type FieldError, invalidRequest } from '../../src/errors.ts'
import { type KeyScope, keyScopes } from '../../src/identity.ts'
import { type AsJson, type OfProject, projectOption } from './options.ts'
import { collect, namingOptions, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const msPerDay = 86_400_000

interface CreateOptions extends OfProject {
  name: string
  kind: 'live' | 'ingest'
  scope?: KeyScope
  allowIp: string[]
  allowOrigin: string[]
  tag: string[]
  expires?: string
}

export function addKeyCommands(program: Command, shell: Shell): void {
  const key = program.command('key').description('API and ingest keys.')
  addCreate(key, shell)
  addList(key, shell)
  addEdit(key, shell)
  addRotate(key, shell)
  addRevoke(key, shell)
}

function addCreate(key: Command, shell: Shell): void {
  key
    .command('create')
    .description('Create a key. It is shown only once, because only its hash is stored.')
    .requiredOption(...projectOption)
    .requiredOption('--name <name>', 'what the key is for')
    .addOption(
      new Option('--kind <kind>', 'live opens /v1 and the agent protocols, ingest opens /ingest')
        .choices(['live', 'ingest'])
        .default('live'),
    )
    .addOption(
      new Option(
        '--scope <scope>',
        'what a live key can do: full is everything under /v1 but sources and webhooks, manage has these too, read ' +
          'changes nothing, knowledge reads and changes knowledge alone, search only searches it (default: full)',
      ).choices(keyScopes),
    )
    .option(
      '--allow-ip <address>',
      'IPv4 or IPv6 address or CIDR range that can use the key; can be repeated (default: any)',
      collect,
      [],
    )
    .option(
      '--allow-origin <origin>',
      'origin such as https://app.example.com whose pages can use a read or search key in a browser; can be ' +
        'repeated (default: none)',
      collect,
      [],
    )
    .option(
      '--tag <tag>',
      'a key of the scope search finds only items with one of its tags; can be repeated (default: all items)',
      collect,
      [],
    )
    .option(
      '--expires <time>',
      'ISO 8601 time, such as 2027-01-31T09:30:00Z, or a day (through its end in UTC)',
    )
    .option('--json', 'print {"id","key","name","kind","scope","allowedIps","tags","expiresAt"}')
    .action(
      async ({ project, name, kind, scope, allowIp, allowOrigin, tag, expires, json }: CreateOptions) => {
        const rules = {
          allowedIps: allowIp,
          allowedOrigins: allowOrigin,
          tags: tag,
          expiresAt: expires === undefined ? null : readTime(expires),
        }
        const made = await shell.inProject(project, ({ keys }, projectId) =>
          keys
            .create(projectId, { name, kind, scope, ...rules })
            .catch(namingOptions(toOption({ allowIp, allowOrigin }))),
        )
        const { id, key, allowedIps, tags, expiresAt } = made
        await shell.answer(json, { id, key, name, kind, scope: made.scope, allowedIps, tags, expiresAt }, [
          key,
          '',
          `This is the key ${shown(name)} (${id}). It is shown only once. Store it now.`,
        ])
      },
    )
}

function addList(key: Command, shell: Shell): void {
  key
    .command('list')
    .description('List the keys of a project, newest first. The keys themselves are not stored.')
    .requiredOption(...projectOption)
    .option('--json', 'print an array')
    .action(async ({ project, json }: OfProject) => {
      const all = await shell.inProject(project, ({ keys }, projectId) => keys.list(projectId))
      const rows = all.map((record) => [
        record.id,
        record.name,
        record.kind,
        record.scope ?? '-',
        record.hint,
        [record.allowedIps.join(' ') || '*', ...record.allowedOrigins].join(' '),
        record.tags.join(' ') || '-',
        stateOf(record, Date.now()),
      ])
      const head = ['ID', 'NAME', 'KIND', 'SCOPE', 'KEY', 'ALLOWED', 'TAGS', 'STATE']
      await shell.answerList(json, all, { head, rows, none: 'The project has no keys yet.' })
    })
}

interface EditOptions {
  name?: string
  allowIp?: string[]
  allowOrigin?: string[]
  tag?: string[]
  expires?: string
  json?: true
}

function addEdit(key: Command, shell: Shell): void {
  key
    .command('edit')
    .description(
      'Change the given settings of an active key; the others stay. Its kind and scope cannot be changed. A ' +
        'running service applies the change from the next request on.',
    )
    .argument('<id>', 'id of the key (key_…)')
    .option('--name <name>', 'what the key is for')
    .option(
      '--allow-ip <address>',
      "replaces the allow-list; can be repeated; '*' allows any address",
      collect,
    )
    .option(
      '--allow-origin <origin>',
      'replaces the origins; can be repeated; none removes them all',
      collect,
    )
    .option(
      '--tag <tag>',
      'replaces the tags of a key of the scope search; can be repeated; none removes them all',
      collect,
    )
    .option('--expires <time>', 'ISO 8601 time, or a day (through its end in UTC), or never')
    .option('--json', 'print the key, without its secret')
    .action(async (id: string, { name, allowIp, allowOrigin, tag, expires, json }: EditOptions) => {
      const origins = allowOrigin?.join() === 'none' ? [] : allowOrigin
      const tags = tag?.join() === 'none' ? [] : tag
      const expiresAt = expires === undefined ? undefined : expires === 'never' ? null : readTime(expires)
      const edit = { name, allowedIps: allowIp, allowedOrigins: origins, tags, expiresAt }
      if (Object.values(edit).every((value) => value === undefined)) {
        throw new AppError('invalid_request', 'Invalid request', {
          detail: 'Say what to change: --name, --allow-ip, --allow-origin, --tag or --expires.',
        })
      }
      const edited = await shell.withServices(async ({ keys, keyChanges }) =>
        keyChanges
          .edit(await keys.projectOf(id), id, edit)
          .catch(namingOptions(toOption({ allowIp, allowOrigin: origins }))),
      )
      await shell.answer(json, edited, [
        `The key ${shown(edited.name)} (${id}), ${stateOf(edited, Date.now())}.`,
        `Allowed: ${[edited.allowedIps.join(' ') || '*', ...edited.allowedOrigins].join(' ')}`,
        ...(edited.tags.length > 0 ? [`Only items tagged: ${edited.tags.join(', ')}`] : []),
      ])
    })
}

function addRotate(key: Command, shell: Shell): void {
  key
    .command('rotate')
    .description(
      'Create a key like an existing one. It is shown only once. The old key works for the overlap, then expires.',
    )
    .argument('<id>', 'id of the key (key_…)')
    .option('--overlap <time>', 'such as 30m, 24h or 7d; 0h ends the old key at once (at most 30d)', '24h')
    .option('--json', 'print {"id","key","name","kind","scope","allowedIps","tags","expiresAt","replaces"}')
    .action(async (id: string, { overlap, json }: { overlap: string; json?: true }) => {
      const overlapHours = readHours(overlap)
      const made = await shell.inProjectOf('keys', id, ({ keyChanges }, projectId) =>
        keyChanges.rotate(projectId, id, { overlapHours }).catch(namingOptions(toOption({}))),
      )
      const { key: secret, name, kind, scope, allowedIps, tags, expiresAt, replaces } = made
      await shell.answer(
        json,
        { id: made.id, key: secret, name, kind, scope, allowedIps, tags, expiresAt, replaces },
        [
          secret,
          '',
          `This is the new key ${shown(name)} (${made.id}). It is shown only once. Store it now. ` +
            (overlapHours === 0
              ? 'The old key no longer works.'
              : `The old key works for another ${shown(overlap)}.`),
        ],
      )
    })
}

function addRevoke(key: Command, shell: Shell): void {
  key
    .command('revoke')
    .description('Revoke a key. A running service refuses it from the next request on.')
    .argument('<id>', 'id of the key (key_…)')
    .option('--json', 'print {"id","revoked"}')
    .action(async (id: string, { json }: AsJson) => {
      const revoked = await shell.inProjectOf('keys', id, ({ keys }, projectId) => keys.revoke(projectId, id))
      await shell.answer(json, revoked, `Revoked the key ${shown(id)}.`)
    })
}

function stateOf({ revokedAt, expiresAt }: KeyRecord, now: number): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`
  if (expiresAt === null) return 'in use'
  return `${Date.parse(expiresAt) <= now ? 'expired' : 'expires'} ${expiresAt}`
}

function readHours(text: string): number {
  const [, count, unit] = /^(\d{1,5})(m|h|d)$/.exec(text) ?? []
  if (count === undefined) {
    throw invalidRequest([{ field: `--overlap ${text}`, message: 'must be a time such as 30m, 24h or 7d' }])
  }
  return Number(count) * (unit === 'm' ? 1 / 60 : unit === 'd' ? 24 : 1)
}

const options: Record<string, string> = {
  name: '--name',
  scope: '--scope',
  allowedIps: '--allow-ip',
  allowedOrigins: '--allow-origin',
  tags: '--tag',
  expiresAt: '--expires',
  overlapHours: '--overlap',
}

function toOption({ allowIp, allowOrigin }: Pick<EditOptions, 'allowIp' | 'allowOrigin'>) {
  return ({ field, message }: FieldError): FieldError => {
    const [list = '', entry] = field.split('.')
    const entries = list === 'allowedIps' ? allowIp : allowOrigin
    const given = entry ? ` ${entries?.[Number(entry)]}` : ''
    return { field: `${options[list] ?? field}${given}`, message }
  }
}

/** Milliseconds since 1970 of an ISO 8601 time, or of the end of a day; a time names its zone, so that it means one moment. */
function readTime(text: string): number {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/i
  const day = Date.parse(text.slice(0, 10))
  const exists = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10))
  const start = form.test(text) && exists ? Date.parse(text.toUpperCase()) : Number.NaN
  const time = text.length === 10 ? start + msPerDay - 1 : start
  if (!Number.isNaN(time)) return time
  const message =
    'must be an ISO 8601 time with its zone, such as 2027-01-31T09:30:00Z, or a day, such as 2027-01-31'
  throw invalidRequest([{ field: `--expires ${text}`, message }])
}
