import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { CallDetails, Turn } from '../../../src/calls/schemas.ts'
import { encodeStatus } from '../../../src/sources/otel/protobuf.ts'
import { pythonPackages } from '../../support/packages.ts'
import { startService } from '../../support/service.ts'

// A session of LiveKit's own SDK, with imitated speech and an imitated model. It sends what it observes by itself: all
// that it is given is LIVEKIT_OBSERVABILITY_URL, beside the API key and secret that every agent has.

setDefaultTimeout(420_000)
const script = join(import.meta.dir, 'python/livekit_observed_session.py')
const service = await startService()

/** Runs a session, and hears what is sent on its way to the service, which refuses the first upload as busy. @returns the agent's own history */
async function observe(folder: string, jobId: string, kind: string, given: Record<string, string>) {
  const statuses: string[] = []
  let isBusy = true
  const recorder = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = await request.arrayBuffer()
      if (isBusy && pathname.includes('recordings')) {
        isBusy = false
        return new Response(encodeStatus('Busy.', 1), { status: 503 })
      }
      const answer = await fetch(service.url + pathname, { method: 'POST', headers: request.headers, body })
      statuses.push(`${pathname} ${answer.status}`)
      return answer
    },
  })
  const child = Bun.spawn(['python3', script, jobId, kind], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      PYTHONPATH: folder,
      LIVEKIT_OBSERVABILITY_URL: recorder.url.origin,
      ...given,
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
  const history: { turns: Turn[]; tools: [string, string][] } = JSON.parse(line)
  return { history, statuses }
}

test.each(['speech', 'text'])('a session arrives by the one variable: %s', async (kind) => {
  const folder = await pythonPackages()
  if (folder === null) return
  const project = await service.mintProject()
  const [apiKey, secret] = [`API${randomBytes(6).toString('hex')}`, randomBytes(24).toString('base64url')]
  await service.services.sources.create(project.projectId, {
    platform: 'livekit',
    secret,
    options: { apiKey },
  })
  await service.services.settings.change(project.projectId, { recordings: 'keep' })
  const jobId = `AJ_${kind}`
  const given = { LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: secret }
  const { history, statuses } = await observe(folder, jobId, kind, given)
  const ways = ['logs/otlp', 'metrics/otlp', 'recordings', 'traces/otlp']
  expect([...new Set(statuses)].sort()).toEqual(ways.map((way) => `/observability/${way}/v0 200`))
  const { data } = await (await project.fetch('/v1/calls')).json()
  expect(data).toHaveLength(1)
  const call = await (await project.fetch(`/v1/calls/${jobId}`)).json()
  expect(call).toMatchObject({
    status: 'completed',
    evaluation: 'success',
    endedReason: 'user_initiated',
    isEngaged: true,
    transcript: history.turns,
    callAnalysis: {
      livekit_accuracy: 'pass',
      livekit_accuracy_reasoning: 'All is right.',
      livekit_outcome_reason: 'The caller knows the opening hours',
      'livekit_tag_language:en': true,
      'livekit_tag_appointment:booked': true,
    },
  })
  expect(call.duration).toBeGreaterThan(0)
  const details: CallDetails = await (await project.fetch(`/v1/calls/${jobId}/details`)).json()
  const tools = details.timeline.filter((entry) => entry.kind.startsWith('tool_'))
  expect(tools.map(({ name, text }) => [name, text])).toEqual(history.tools)
  expect(details).toMatchObject({
    source: 'livekit',
    agent: { id: 'front-desk' },
    metadata: { jobId, roomId: expect.stringMatching(/^RM_/), inputTokens: 33, outputTokens: 21 },
  })
  const recording = await project.fetch(`/v1/calls/${jobId}/recording`)
  if (kind === 'text') expect(recording.status).toBe(404)
  else {
    expect(details.latencyMs).toBeGreaterThan(0)
    expect(details.recording).toMatchObject({ state: 'kept', contentType: 'audio/ogg', channels: 2 })
    expect((await recording.bytes()).byteLength).toBeGreaterThan(1_000)
  }
  expect(JSON.stringify({ call, details })).not.toContain('SECRET')
})
