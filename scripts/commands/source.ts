import { createInterface } from 'node:readline'
import { type Command, Option } from 'commander'
import { invalidRequest } from '../../src/errors.ts'
import { platformNames, setUpOf } from '../../src/sources/catalog.ts'
import type { MadeSource } from '../../src/sources/sources.ts'
import { consoleOrigin } from './folder.ts'
import { type AsJson, type OfProject, projectOption } from './options.ts'
import { collect, namingOptions, shown } from './sentences.ts'
import type { Shell } from './shell.ts'
import { addImport } from './source-import.ts'

interface CreateOptions extends OfProject {
  platform: string
  name?: string
  secret?: string
  option: string[]
}

export function addSourceCommands(program: Command, shell: Shell): void {
  const source = program
    .command('source')
    .description('Sources: platforms that send calls by webhook, each to its own address.')
  addCreate(source, shell)
  addSet(source, shell)
  addList(source, shell)
  addRotate(source, shell)
  addRemove(source, shell)
  addFailures(source, shell)
  addReadAgain(source, shell)
  addImport(source, shell)
}

function addCreate(source: Command, shell: Shell): void {
  source
    .command('create')
    .description('Create a source and print the address to give to the platform.')
    .requiredOption(...projectOption)
    .addOption(
      new Option('--platform <platform>', 'the platform that sends')
        .choices(platformNames)
        .makeOptionMandatory(),
    )
    .option('--name <name>', "name of the source (default: the platform's name)")
    .option(
      '--secret <secret>',
      'what the platform signs with; - reads it from standard input (default: a new secret, shown only once, if the ' +
        'platform lets you choose it)',
    )
    .option(
      '--option <key=value>',
      'metadata=keep (what you attach to a call on the platform becomes its metadata), direction=outbound ' +
        '(synthflow), summaryInsight=ID (telnyx), apiKey=KEY and apiSecret=- (livekit), apiKey=- (of the API that recordings are ' +
        'fetched from), host=HOST of that API, poll=5m (1m to 24h: ask the platform for new calls so often; or off), callerChannel=0 or 1 (of its recordings); KEY=- reads a line of standard input; can be repeated',
      collect,
      [],
    )
    .option('--json', 'print {"id","url","platform"}, and "secret" if one was generated')
    .action(async ({ project, platform, name, secret, option, json }: CreateOptions) => {
      const input = new InputLines(shell)
      const given = await secretOf(secret, input)
      const options = await readOptions(option, input)
      const wanted = { platform, name, secret: given, options }
      const made = await shell.inProject(project, ({ sources }, projectId) =>
        sources.create(projectId, wanted).catch(toOptions),
      )
      const { id, secret: shownOnce } = made
      const origin = consoleOrigin(shell.loadConfig())
      const { variable } = setUpOf(made.platform)
      const url = variable ? origin : `${origin}/ingest/from/${id}`
      const address = variable ? `${variable}=${url}` : `URL     ${url}`
      const lines = [`Created the source ${shown(made.name)} (${id}).`, '', address]
      await shell.answer(json, { id, url, platform, ...(shownOnce ? { secret: shownOnce } : {}) }, [
        ...lines,
        ...secretLines(made),
      ])
    })
}

/** What to do about the secret. */
function secretLines({ id, platform, secret, hasSecret }: MadeSource): string[] {
  const { secretName, label, variable } = setUpOf(platform)
  const what = variable ? 'the variable' : 'the URL'
  if (secret)
    return [`Secret  ${secret}`, '', `Give both to ${label}. The secret is shown only once. (${secretName})`]
  if (hasSecret) return ['', `Give ${what} to ${label}.`]
  return [
    '',
    `Give ${what} to ${label}, then set the secret that ${label} signs with (${secretName}):`,
    `bun callbook source rotate ${id} --secret -`,
  ]
}

function addSet(source: Command, shell: Shell): void {
  source
    .command('set')
    .description('Change options of a source, such as its API key.')
    .argument('<id>', 'id of the source (src_…)')
    .requiredOption(
      '--option <key=value>',
      'as for create; apiKey=- reads a line of standard input',
      collect,
      [],
    )
    .option('--json', 'print {"id","options","hasApiKey"}')
    .action(async (id: string, { option, json }: Pick<CreateOptions, 'option' | 'json'>) => {
      const options = await readOptions(option, new InputLines(shell))
      const changed = await shell.inProjectOf('sources', id, ({ sources }, projectId) =>
        sources.change(projectId, id, { options }).catch(toOptions),
      )
      const answer = { id, options: changed.options, hasApiKey: changed.hasApiKey }
      const wantsKey = 'host' in options && setUpOf(changed.platform).apiKeyName && !changed.hasApiKey
      await shell.answer(json, answer, [
        `Changed the options of ${shown(changed.name)} (${id}).`,
        ...(wantsKey ? ['It has no API key. A key is given anew with each host: --option apiKey=-'] : []),
      ])
    })
}

function addList(source: Command, shell: Shell): void {
  source
    .command('list')
    .description(
      'List the sources, newest first, with their number of events. Counts are at most a second old.',
    )
    .option('--project <project>', 'id or name of a project (default: all)')
    .option('--json', 'print an array')
    .action(async ({ project, json }: { project?: string; json?: true }) => {
      const all = await shell.withServices(async ({ projects, sources }) =>
        sources.list(project === undefined ? undefined : (await projects.find(project)).projectId),
      )
      const rows = all.map(({ id, platform, name, events, failures, lastEventAt, hasSecret }) => {
        const last = lastEventAt ?? (hasSecret ? 'waiting' : 'no secret yet')
        return [id, platform, name, String(events), String(failures), last]
      })
      const values = all.map(({ id, platform, name, projectId, events, failures, lastEventAt, poll }) => {
        return { id, platform, name, projectId, events, failures, lastEventAt, poll }
      })
      const head = ['ID', 'PLATFORM', 'NAME', 'EVENTS', 'FAILURES', 'LAST EVENT']
      await shell.answerList(json, values, { head, rows, none: 'There are no sources yet.' })
    })
}

function addRotate(source: Command, shell: Shell): void {
  source
    .command('rotate')
    .description('Replace the secret of a source. The previous one is accepted for 24 hours.')
    .argument('<id>', 'id of the source (src_…)')
    .option(
      '--secret <secret>',
      'the new secret; - reads it from standard input (default: a generated one, if the platform lets you choose it)',
    )
    .option('--json', 'print {"id"}, and "secret" if one was generated')
    .action(async (id: string, { secret, json }: { secret?: string; json?: true }) => {
      const given = await secretOf(secret, new InputLines(shell))
      const made = await shell.inProjectOf('sources', id, ({ sources }, projectId) =>
        sources.rotate(projectId, id, given).catch(toOptions),
      )
      await shell.answer(json, { id, ...(made.secret ? { secret: made.secret } : {}) }, [
        ...(made.secret ? [made.secret, ''] : []),
        `Rotated the secret of ${shown(made.name)} (${id}). The previous one is accepted for 24 hours.`,
      ])
    })
}

function addRemove(source: Command, shell: Shell): void {
  source
    .command('remove')
    .description('Delete a source, its secret and its failures. Its calls stay.')
    .argument('<id>', 'id of the source (src_…)')
    .option('--json', 'print {"id","deleted"}')
    .action(async (id: string, { json }: AsJson) => {
      const deleted = await shell.inProjectOf('sources', id, ({ sources }, projectId) =>
        sources.delete(projectId, id),
      )
      await shell.answer(json, deleted, `Deleted the source ${shown(id)}.`)
    })
}

function addFailures(source: Command, shell: Shell): void {
  source
    .command('failures')
    .description(
      'List the events of the last week that could not be read, newest first, each with the field at fault.',
    )
    .argument('<id>', 'id of the source (src_…)')
    .option('--json', 'print an array')
    .action(async (id: string, { json }: AsJson) => {
      const all = await shell.inProjectOf('sources', id, ({ sourceFailures }, projectId) =>
        sourceFailures.list(projectId, id),
      )
      const rows = all.map(({ at, callId, field, message }) => [at, callId ?? '-', `${field} ${message}`])
      await shell.answerList(json, all, {
        head: ['TIME', 'CALL', 'WHY'],
        rows,
        none: 'Every event could be read.',
      })
    })
}

function addReadAgain(source: Command, shell: Shell): void {
  source
    .command('read-again')
    .description('Read the failed events of a source again, after updating Callbook.')
    .argument('<id>', 'id of the source (src_…)')
    .option('--json', 'print {"read","failed"}')
    .action(async (id: string, { json }: AsJson) => {
      const counted = await shell.inProjectOf('sources', id, ({ sourceEvents }, projectId) =>
        sourceEvents.readAgain(projectId, id),
      )
      const { read, failed } = counted
      await shell.answer(json, counted, `Read ${read} events. ${failed} still cannot be read.`)
    })
}

/** Values that are given as `-`: the lines of standard input, one each, which no list of processes shows. */
class InputLines {
  readonly #shell: Shell
  #lines: AsyncIterator<string> | undefined

  constructor(shell: Shell) {
    this.#shell = shell
  }

  /** The value of an option, or the next line for `-`. @throws invalid_request if there is none */
  async valueOf(option: string, value: string): Promise<string> {
    if (value !== '-') return value
    this.#lines ??= createInterface({ input: this.#shell.streams.stdin, signal: this.#shell.signal })[
      Symbol.asyncIterator
    ]()
    const { value: line = '' } = await this.#lines.next()
    if (line !== '') return line
    throw invalidRequest([{ field: option, message: 'was not given on standard input' }])
  }

  /** The same for a secret, with a warning if the command itself holds it. */
  async secretOf(option: string, value: string): Promise<string> {
    if (value !== '-') {
      const instead = option.includes(' ') ? `${option}=-` : `${option} -`
      this.#shell.say(
        'Other users of this machine can see the secret in the list of processes, and the shell may keep it in its ' +
          `history. Give it on standard input instead: ${instead}`,
      )
    }
    return await this.valueOf(option, value)
  }
}

async function secretOf(secret: string | undefined, input: InputLines): Promise<string | undefined> {
  return secret === undefined ? undefined : await input.secretOf('--secret', secret)
}

/** @throws invalid_request */
async function readOptions(entries: string[], input: InputLines): Promise<Record<string, string>> {
  const options: [string, string][] = []
  for (const entry of entries) {
    const at = entry.indexOf('=')
    if (at <= 0) throw invalidRequest([{ field: `--option ${entry}`, message: 'must be KEY=VALUE' }])
    const [name, value] = [entry.slice(0, at), entry.slice(at + 1)]
    const option = `--option ${name}`
    const isSecret = secretNames.test(name)
    options.push([name, await (isSecret ? input.secretOf(option, value) : input.valueOf(option, value))])
  }
  return Object.fromEntries(options)
}

/** Options such as `apiKey`. */
const secretNames = /key|secret|token/i

const toOptions = namingOptions(({ field, message }) => ({
  field: `--${field.replace('options.', 'option ')}`,
  message,
}))
