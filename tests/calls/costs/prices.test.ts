import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { costOf, readPrices } from '../../../src/calls/costs/prices.ts'
import type { Usage } from '../../../src/calls/schemas.ts'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine } from '../../support/command-line.ts'
import { startService } from '../../support/service.ts'

const from = '2026-01-01'
const gpt = {
  kind: 'llm',
  model: 'gpt-4o*',
  from,
  per: '1M tokens',
  input: 2.5,
  cachedInput: 1.25,
  output: 10,
}
const nova = { kind: 'stt', provider: 'deepgram', model: 'nova-3', from, per: 'minute', price: 0.006 }
const sonic = { kind: 'tts', provider: null, model: 'sonic-3', from, per: '1K characters', price: 0.05 }
const realtime = { ...gpt, model: 'realtime', audioInput: 40, audioOutput: 80 }
const list = [gpt, nova, sonic, realtime]
const llm: Usage = { kind: 'llm', provider: 'openai', model: 'gpt-4o-mini' }
const createdAt = Date.parse('2026-03-01')

describe('the cost of what was used', () => {
  test.each<[string, Usage[], object[], number | string[]]>([
    [
      'takes cached tokens out of the input once',
      [{ ...llm, inputTokens: 1e6, cachedTokens: 4e5, outputTokens: 1e5 }],
      list,
      3,
    ],
    [
      'takes sound out of input and output',
      [
        {
          ...llm,
          model: 'realtime',
          inputTokens: 1e6,
          audioInputTokens: 2e5,
          outputTokens: 1e5,
          audioOutputTokens: 5e4,
        },
      ],
      list,
      2 + 8 + 0.5 + 4,
    ],
    [
      'is the sum of all entries, and one of characters and seconds is enough',
      [
        { kind: 'stt', provider: 'deepgram', model: 'nova-3', seconds: 90 },
        { kind: 'tts', provider: 'cartesia', model: 'sonic-3', characters: 2_000, seconds: 70 },
      ],
      list,
      0.009 + 0.1,
    ],
    [
      'is none where cached tokens have no price',
      [{ ...llm, inputTokens: 10, cachedTokens: 5 }],
      [{ ...gpt, cachedInput: undefined }],
      ['llm openai gpt-4o-mini cachedInput'],
    ],
    [
      'is none where a model has no price, another provider’s does not count, and a unit is not known',
      [
        { kind: 'tts', provider: 'elevenlabs', model: 'flash', characters: 5 },
        { kind: 'stt', provider: 'openai', model: 'nova-3', seconds: 5 },
        { kind: 'stt', provider: 'deepgram', model: 'nova-3', characters: 5 },
        { ...llm, seconds: 5 },
      ],
      list,
      [
        'tts elevenlabs flash',
        'stt openai nova-3',
        'stt deepgram nova-3 seconds',
        'llm openai gpt-4o-mini tokens',
      ],
    ],
    [
      'is that of the last line which was valid when the call began',
      [{ ...llm, inputTokens: 1e6 }],
      [{ ...gpt, input: 9 }, gpt, { ...gpt, from: '2026-03-02', input: 99 }],
      2.5,
    ],
    [
      'is none of tokens at a price of minutes',
      [{ ...llm, inputTokens: 1, seconds: 60 }],
      [{ ...nova, kind: 'llm', provider: null, model: '*' }],
      ['llm openai gpt-4o-mini input'],
    ],
  ])('%s', (_, usage, lines, expected) => {
    const cost = costOf(usage, readPrices(JSON.parse(JSON.stringify(lines))), createdAt)
    if ('missing' in cost) expect(cost.missing).toEqual(expected as string[])
    else expect(cost.costUsd).toBeCloseTo(Number(expected), 9)
  })

  test.each<[object, string]>([
    [{ ...gpt, input: -1 }, 'line 2.input'],
    [{ ...nova, output: 1 }, 'line 2.output'],
    [{ ...gpt, price: 1 }, 'line 2.price'],
    [{ ...gpt, discount: 1 }, 'line 2.discount'],
    [{ ...gpt, model: '*-mini' }, 'line 2.model'],
    [{ ...gpt, from: '2026-02-30' }, 'line 2.from'],
    [{ ...gpt, per: 'hour' }, 'line 2.per'],
    [{ kind: 'tts', model: 'x', from, per: 'minute' }, 'line 2.per'],
    [{ ...gpt, kind: 'gpu' }, 'line 2.kind'],
  ])('refuses %j', (line, field) => {
    expect(() => readPrices([gpt, line])).toThrow(
      expect.objectContaining({ errors: expect.arrayContaining([expect.objectContaining({ field })]) }),
    )
  })
})

describe('a service with prices', async () => {
  const file = join(freshFolder(), 'prices.json')
  writeFileSync(file, JSON.stringify([gpt]))
  const service = await startService({ env: { PRICES_FILE: file } })
  const callbook = new CommandLine(service.dataDir)
  const project = await service.mintProject()
  const usage = [{ ...llm, inputTokens: 1e6 }]
  const tts = { kind: 'tts', provider: 'cartesia', model: 'sonic-3', characters: 1_000 }
  const put = (id: string, details: object, more: object = { status: 'completed' }) =>
    project.send('PUT', `/ingest/calls/${id}`, { createdAt: '2026-03-01T10:00:00Z', ...more, details })
  const costOfCall = async (id: string) => {
    const { costUsd, costSource, costMissing } = await (await project.fetch(`/v1/calls/${id}/details`)).json()
    return [costUsd, costSource, costMissing]
  }

  test('computes the cost of a completed call, not of one that goes on', async () => {
    await put('one', { usage }, { status: 'live' })
    expect(await costOfCall('one')).toEqual([null, null, undefined])
    await project.send('PUT', '/ingest/calls/one', { status: 'completed' })
    expect(await costOfCall('one')).toEqual([2.5, 'computed', undefined])
    await put('one', { usage: [{ ...llm, inputTokens: 2e6 }] })
    expect(await costOfCall('one')).toEqual([5, 'computed', undefined])
    const { data } = await (await project.fetch('/v1/calls?details=include')).json()
    expect(data[0].details.costUsd).toBe(5)
  })

  test('leaves out a cost that is not whole, and says what is missing', async () => {
    await put('two', { usage: [...usage, tts] })
    expect(await costOfCall('two')).toEqual([null, null, ['tts cartesia sonic-3']])
    await put('two', { usage: null })
    expect(await costOfCall('two')).toEqual([null, null, undefined])
  })

  test('what the platform says wins, also when it says so later of an earlier moment', async () => {
    await put('three', { usage, costUsd: 0.7 })
    expect(await costOfCall('three')).toEqual([0.7, 'platform', undefined])
    await put('four', { usage }, { status: 'completed', occurredAt: '2026-03-01T11:00:00Z' })
    expect(await costOfCall('four')).toEqual([2.5, 'computed', undefined])
    await put('four', { costUsd: 0.8 }, { occurredAt: '2026-03-01T10:30:00Z' })
    expect(await costOfCall('four')).toEqual([0.8, 'platform', undefined])
  })

  test('the commands name what has no price, and compute again what was computed', async () => {
    const own = join(freshFolder(), 'own.json')
    writeFileSync(own, JSON.stringify([{ ...gpt, input: 5 }]))
    await put(
      'five',
      { usage: [...usage, tts] },
      { status: 'completed', createdAt: new Date().toISOString() },
    )
    const check = await callbook.json(['prices', 'check', own])
    expect([check.code, check.value]).toEqual([1, { lines: 1, missing: { 'tts cartesia sonic-3': 1 } }])
    writeFileSync(own, JSON.stringify([{ ...gpt, input: 5 }, sonic]))
    expect((await callbook.json(['prices', 'check', own])).code).toBe(0)
    const set = await callbook.run(['project', 'set', project.id, '--prices', own])
    expect([set.code, set.out]).toEqual([0, expect.stringContaining('2 lines')])
    // A change of something else leaves what was computed.
    await project.send('PUT', '/ingest/calls/one', { summary: 'Other' })
    expect(await costOfCall('one')).toEqual([5, 'computed', undefined])
    const apply = (...more: string[]) =>
      callbook.json(['prices', 'apply', '--project', project.id, '--since', '2026-01-01T00:00:00Z', ...more])
    expect((await apply('--dry-run')).value).toEqual({ calls: 2, changed: 2, missing: {} })
    expect(await costOfCall('one')).toEqual([5, 'computed', undefined])
    expect((await apply()).value).toEqual({ calls: 2, changed: 2, missing: {} })
    expect(await costOfCall('one')).toEqual([10, 'computed', undefined])
    expect(await costOfCall('five')).toEqual([5.05, 'computed', undefined])
    expect(await costOfCall('four')).toEqual([0.8, 'platform', undefined])
    expect((await apply()).value).toMatchObject({ changed: 0 })
    writeFileSync(own, JSON.stringify([{ ...nova, output: 1 }]))
    const bad = await callbook.run(['project', 'set', project.id, '--prices', own])
    expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('line 1.output')])
    const broken = await callbook.run(['project', 'list'], { env: { PRICES_FILE: own } })
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('PRICES_FILE line 1.output')])
    expect((await callbook.run(['project', 'set', project.id, '--prices', 'off'])).code).toBe(0)
  })
})
