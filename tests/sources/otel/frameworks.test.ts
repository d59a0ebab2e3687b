import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import type { Call, CallDetails, Turn } from '../../../src/calls/schemas.ts'
import fc from '../../support/fast-check.ts'
import { livekitForNode, pythonPackages } from '../../support/packages.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { split, splitAndShuffled } from './spans.ts'

// The frameworks themselves, in processes of their own, with imitated speech and models. Each runs an example of
// scripts/examples, which sends the call `by-code`, and exports the spans of the same session as the call `by-spans`.

setDefaultTimeout(420_000)
const root = join(import.meta.dir, '../../..')
const examples = join(root, 'scripts/examples')
const path = '/ingest/otlp/v1/traces'
const service = await startService()

/** What an agent says of its own session. */
interface History {
  turns: Turn[]
  tools: [string, string][]
  /** The median of its turns; absent where the framework does not measure it. */
  latencyMs?: number
}

interface Run {
  project: TestProject
  history: History
  /** The spans that it has exported, each as a request. */
  spans: object[]
}

/** Runs the command as an agent of a new project, and hears what it exports on the way to the service. */
async function runAgent(command: string[], env: Record<string, string>): Promise<Run> {
  const project = await service.mintProject()
  // As the tool's answer begins with a warning where a passage covers little of the question.
  const item = { name: 'When do you open?', text: 'We open at nine.' }
  expect((await project.send('POST', '/v1/knowledge', item)).status).toBe(201)
  await service.services.settings.change(project.projectId, { keepQuestionsDays: 7 })
  const spans: object[] = []
  const recorder = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer())
      const isZipped = request.headers.get('content-encoding') === 'gzip'
      spans.push(...split(isZipped ? gunzipSync(body) : body))
      return await fetch(service.url + path, { method: 'POST', headers: request.headers, body })
    },
  })
  const child = Bun.spawn(command, {
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      ...env,
      CALLBOOK_URL: service.url,
      CALLBOOK_INGEST_KEY: project.ingestKey,
      CALLBOOK_SEARCH_KEY: project.key,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${recorder.url.origin}/ingest/otlp`,
      OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${project.ingestKey}`,
    },
  })
  const timer = setTimeout(() => child.kill(), 90_000)
  const [printed, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  clearTimeout(timer)
  await recorder.stop(true)
  const line = printed.split('\n').findLast((each) => each.startsWith('{"turns"'))
  if (line === undefined) throw new Error(`The agent has ended without its history: ${errors.slice(-2_000)}`)
  return { project, history: JSON.parse(line), spans }
}

async function callOf(project: TestProject, id: string): Promise<{ call: Call; details: CallDetails }> {
  const answers = ['', '/details'].map(async (part) => (await project.fetch(`/v1/calls/${id}${part}`)).json())
  const [call, details] = await Promise.all(answers)
  return { call, details }
}

function toolsOf({ timeline }: CallDetails) {
  return timeline.filter(({ kind }) => kind.startsWith('tool_')).map(({ name, text }) => [name, text])
}

/** The call by its spans is the session as the agent has it, whatever the batches and the order. */
async function expectBySpans({ project, history, spans }: Run): Promise<void> {
  const { call, details } = await callOf(project, 'by-spans')
  expect(call).toMatchObject({ status: 'completed', isEngaged: true, transcript: history.turns })
  expect(call.duration).toBeGreaterThan(0)
  expect(toolsOf(details)).toEqual(history.tools)
  if (history.latencyMs === undefined) expect(details.latencyMs).toBeNull()
  else expect(details.latencyMs).toBeCloseTo(history.latencyMs, 2)
  expect(spans.length).toBeGreaterThan(10)
  const { updatedAt: _, ...expected } = call
  await fc.assert(
    fc.asyncProperty(splitAndShuffled(spans), async (batches) => {
      const other = await service.mintProject()
      for (const batch of batches) expect((await other.send('POST', path, batch)).status).toBe(200)
      const again = await callOf(other, 'by-spans')
      expect(again.call).toMatchObject(expected)
      expect(again.details).toEqual(details)
    }),
    { numRuns: 10 },
  )
}

async function expectByCode({ project, history }: Run, endedReason: string): Promise<void> {
  const { call, details } = await callOf(project, 'by-code')
  expect(call).toMatchObject({
    status: 'completed',
    endedReason,
    transcript: history.turns,
    callerNumber: '+15550100001',
  })
  expect(call.duration).toBeGreaterThan(0)
  expect(details).toMatchObject({ agent: { id: 'front-desk' }, direction: 'inbound' })
  // The question was bound to the call.
  await service.services.questions.flush()
  const questions = sql`select query, call_id as callId from questions where project_id = ${project.projectId}`
  expect(await service.services.database.read.all<object>(questions)).toEqual([
    { query: 'When do you open?', callId: 'by-code' },
  ])
}

function expectSession({ history }: Run): void {
  expect(history.turns.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'assistant',
    'user',
    'assistant',
  ])
  expect(
    history.tools.map(([, text]) => JSON.parse(text.startsWith('{') ? text : JSON.stringify(text))),
  ).toEqual([{ query: 'When do you open?' }, 'When do you open?\nWe open at nine.'])
}

describe('from PyPI', () => {
  test.each([
    ['livekit', 'user_initiated', { OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }],
    ['pipecat', 'EndFrame', {}],
    ['pipecat', 'EndFrame', { EARS_NEVER_FINALIZE: '1' }],
  ] as const)('%s, %s, %o', async (name, endedReason, more) => {
    const folder = await pythonPackages()
    if (folder === null) return
    const script = join(import.meta.dir, 'python', `${name}_session.py`)
    const run = await runAgent(['python3', script], { PYTHONPATH: folder, EXAMPLES: examples, ...more })
    expectSession(run)
    await expectBySpans(run)
    await expectByCode(run, endedReason)
  })
})

describe('from npm', () => {
  test('livekit', async () => {
    const folder = await livekitForNode()
    if (folder === null) return
    // Beside the packages, where Node finds them.
    const outdir = mkdtempSync(join(folder, 'run-'))
    const entrypoints = [join(import.meta.dir, 'node/livekit_session.ts'), join(examples, 'livekit_agent.ts')]
    const built = await Bun.build({
      entrypoints,
      outdir,
      root,
      target: 'node',
      packages: 'external',
      splitting: true,
    })
    expect(built.success).toBe(true)
    const script = built.outputs.find(({ path }) => path.endsWith('livekit_session.js'))
    const run = await runAgent(['node', script?.path ?? ''], {})
    rmSync(outdir, { recursive: true, force: true })
    expectSession(run)
    await expectBySpans(run)
    await expectByCode(run, 'user_initiated')
  })
})
