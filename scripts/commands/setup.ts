import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { sql } from 'drizzle-orm'
import { AppError } from '../../src/errors.ts'
import type { Services } from '../../src/services/services.ts'
import { consoleOrigin, hasOwner } from './folder.ts'
import type { AsJson } from './options.ts'
import { shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const ways = { livekit: 'LiveKit Agents', pipecat: 'Pipecat', vapi: 'Vapi', code: 'your own code' } as const
type Way = keyof typeof ways
const pollEveryMs = 500
/** A call that is not over is told of once nothing more has come for so long. */
const quietMs = 3_000
const projectsNamedMax = 10
const skill = fileURLToPath(new URL('../../skills/callbook/SKILL.md', import.meta.url))

interface SetupOptions extends AsJson {
  project?: string
  with?: Way
  timeout: number
}

/** The first call, as far as it has arrived. */
interface Arrived {
  id: string
  status: string
  source: string | null
  callerNumber: string | null
  agentId: string | null
  turns: number
  changeSeq: number
  isDated: number
  isTimed: number
}

export function addSetupCommand(program: Command, shell: Shell): void {
  program
    .command('setup')
    .description(
      'Say how to send calls from what you run, wait for the first one, and say what is missing in it.',
    )
    .option('--project <project>', 'id or name of the project (default: the only one)')
    .addOption(
      new Option('--with <what>', 'what you run; asked for on a terminal').choices(Object.keys(ways)),
    )
    .option('--timeout <seconds>', 'how long to wait for a call', readSeconds, 600)
    .option('--json', 'print {"with","lines","call","url","missing"}; the lines go to stderr as well')
    .action(async ({ project, timeout, json, ...options }: SetupOptions) => {
      const way = options.with ?? (await askWay(shell))
      await shell.withServices(async (services) => {
        const { projectId, id, name } = await theProject(services, project)
        const since = await lastCall(services, projectId)
        const origin = consoleOrigin(services.config)
        const callsUrl = `${origin}/console/p/${id}/calls`
        const lines = await linesFor(way, services, projectId, origin)
        for (const line of [...lines, `Calls appear at ${callsUrl}`]) shell.say(line)
        const isLocalAlone = services.database.isLocal && !hasOwner(services.config)
        if (isLocalAlone) shell.say('No service runs on this folder yet: bun start')
        shell.say(`\nWaiting for a call in ${shown(name)}, for up to ${timeout} s …`)
        const call = await firstCall(services, { projectId, since, timeoutMs: timeout * 1_000 }, shell.signal)
        shell.signal.throwIfAborted()
        if (!call)
          throw new AppError('not_found', 'No call', { detail: `No call has arrived within ${timeout} s.` })
        const missing = missingIn(call)
        const { changeSeq: _, isDated: __, isTimed: ___, ...told } = call
        const url = `${callsUrl}/${encodeURIComponent(call.id)}`
        await shell.answer(json, { with: way, lines, call: told, url, missing }, [
          `The call ${shown(call.id)} has arrived: ${call.status}, ${call.turns} turns.`,
          url,
          ...(missing.length === 0
            ? ['Nothing is missing in it.']
            : ['Missing in it:', ...missing.map((each) => `- ${each}`)]),
        ])
      })
    })
}

function readSeconds(text: string): number {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of seconds from 1 to 999999.')
}

async function askWay({ streams, isTerminal }: Shell): Promise<Way> {
  const names = Object.keys(ways) as Way[]
  if (!isTerminal) throw usage(`Say what you run: --with ${names.join(', or --with ')}`)
  const terminal = createInterface({ input: streams.stdin, output: streams.stderr })
  const list = names.map((name, at) => `  ${at + 1}  ${ways[name]}`).join('\n')
  const text = await terminal.question(`What do you run?\n${list}\n> `).finally(() => terminal.close())
  const way = names[Number(text) - 1] ?? names.find((name) => name === text.trim().toLowerCase())
  if (way) return way
  throw usage(`Answer 1 to ${names.length}.`)
}

async function theProject({ projects }: Services, idOrName: string | undefined) {
  if (idOrName !== undefined) return await projects.find(idOrName)
  const all = await projects.list()
  const [only] = all
  if (!only) throw usage('There is no project yet: bun start')
  if (all.length === 1) return only
  const names = all.slice(0, projectsNamedMax).map(({ name }) => shown(name))
  throw usage(`Say which project: --project ${names.join(', or --project ')}`)
}

function usage(detail: string): AppError {
  return new AppError('invalid_request', 'Invalid request', { detail })
}

/** What to add to what people run. Makes the source or the key that it needs. */
async function linesFor(
  way: Way,
  { keys, sources }: Services,
  projectId: number,
  origin: string,
): Promise<string[]> {
  const byAgent = existsSync(skill)
    ? [`Or tell your coding agent: read ${skill}, and connect this agent to Callbook.`]
    : []
  if (way === 'vapi') {
    const { id, secret } = await sources.create(projectId, { platform: 'vapi' })
    const guide = `${origin}/docs/guide/sources`
    return [`Server URL  ${origin}/ingest/from/${id}`, `Secret      ${secret}`, `How: ${guide}`, ...byAgent]
  }
  const limits = { allowedIps: [], expiresAt: null }
  const { key } = await keys.create(projectId, { name: `setup: ${ways[way]}`, kind: 'ingest', ...limits })
  if (way === 'code')
    return [
      `export CALLBOOK=${origin}`,
      `export INGEST_KEY=${key}`,
      `How: ${origin}/docs/guide/own-code`,
      ...byAgent,
    ]
  return [
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}/ingest/otlp`,
    `export OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20${key}`,
    `The lines that switch tracing on: ${origin}/docs/guide/opentelemetry#setup`,
    ...byAgent,
  ]
}

async function lastCall({ database }: Services, projectId: number): Promise<number> {
  const [row] = await database.read.all<{ seq: number }>(
    sql`select coalesce(max(seq), 0) as seq from calls where project_id = ${projectId}`,
  )
  return row?.seq ?? 0
}

/** The first call after `since`, once it is over or nothing more comes; null if there is none in time. */
async function firstCall(
  { database }: Services,
  { projectId, since, timeoutMs }: { projectId: number; since: number; timeoutMs: number },
  signal: AbortSignal,
): Promise<Arrived | null> {
  const deadline = performance.now() + timeoutMs
  let [changeSeq, quietSince] = [0, performance.now()]
  while (!signal.aborted) {
    const [row] = await database.read.all<Arrived>(sql`
      select id, status, source, caller_number as callerNumber, agent_id as agentId, change_seq as changeSeq,
        not created_on_arrival as isDated, instr(coalesce(details, ''), '"atSeconds":') > 0 as isTimed,
        json_array_length(document, '$.transcript') as turns
      from calls join call_documents on call_documents.seq = calls.seq
        left join call_details on call_details.seq = calls.seq
      where project_id = ${projectId} and calls.seq > ${since} order by calls.seq limit 1`)
    const now = performance.now()
    if (row && row.changeSeq !== changeSeq) [changeSeq, quietSince] = [row.changeSeq, now]
    if (row && (row.status === 'completed' || now - quietSince >= quietMs)) return row
    if (now >= deadline) return row ?? null
    await setTimeout(pollEveryMs, undefined, { signal }).catch(() => undefined)
  }
  return null
}

function missingIn({ callerNumber, isDated, isTimed, status, turns, agentId }: Arrived): string[] {
  return [
    ...(callerNumber === null ? ['the caller: callerNumber'] : []),
    ...(isDated ? [] : ['when it began: createdAt']),
    ...(turns > 0 ? [] : ['what was said: transcript']),
    ...(isTimed ? [] : ['the times of turns and tools: details.timeline']),
    ...(status === 'completed' ? [] : ['its end: status completed']),
    ...(agentId === null ? ['the agent: details.agent'] : []),
  ]
}
