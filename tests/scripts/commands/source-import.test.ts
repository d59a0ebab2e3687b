import { describe, expect, test } from 'bun:test'
import { status } from '../../recordings/fetching/fake-storage.ts'
import { apiKey, pastCalls, startPlatform } from '../../sources/history/fake-platforms.ts'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine, withService } from '../../support/command-line.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { until } from '../../support/until.ts'

const env = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' }
const recent = Date.now() - 80 * 86_400_000

async function set(callbook: CommandLine, count: number) {
  const fake = await startPlatform('vapi')
  fake.calls.push(...pastCalls(count, recent))
  const project = await callbook.project()
  const options = ['--option', 'apiKey=-', '--option', `host=${fake.origin}`]
  const args = ['source', 'create', '--project', project, '--platform', 'vapi', ...options]
  const { value } = await callbook.json(args, { stdin: `${apiKey}\n`, env })
  const run = (...args: string[]) => callbook.json(['source', 'import', ...args], { env })
  return { fake, project, id: value.id as string, run }
}

describe.skipIf(ofFilesOnly)('bun callbook source import', () => {
  test('looks, imports, says how far it came, and changes nothing the second time, where no service runs', async () => {
    const callbook = await new CommandLine().withDatabase()
    const { fake, project, run } = await set(callbook, 120)
    const dry = await run('vapi', '--since', '90d', '--dry-run')
    expect([dry.code, dry.value]).toEqual([
      0,
      {
        ok: true,
        reachable: new Date(fake.calls[20]?.startedAt ?? 0).toISOString(),
        total: null,
        perCall: 0,
        seen: 100,
        recordings: 0,
        goneAt: null,
      },
    ])
    const first = await run('vapi', '--project', project, '--since', '90d', '--rate', '50')
    expect([first.code, first.err]).toEqual([0, ''])
    expect(first.value).toMatchObject({ state: 'done', reason: null, found: 120, created: 120, failed: 0 })
    expect((await run('vapi', '--status')).value).toEqual(first.value)
    const again = await run('vapi', '--since', '90d', '--rate', '50')
    expect(again.value).toMatchObject({ found: 120, unchanged: 120, created: 0 })
    const exported = await callbook.run(['calls', 'export', '--project', project])
    expect(exported.out.split('\n')).toHaveLength(121)
  })

  test('exits 1, in words, when it fails or a call fails, and names its own options', async () => {
    const callbook = await new CommandLine().withDatabase()
    const { fake, id, run } = await set(callbook, 3)
    const [one] = fake.calls
    if (one) one.as = { id: null }
    const some = await run(id, '--since', '90d', '--rate', '50')
    expect([some.code, some.value.failed, some.value.created]).toEqual([1, 1, 2])
    fake.fail(/./, status(401))
    const refused = await callbook.run(['source', 'import', id, '--since', '90d'], { env })
    expect([refused.code, refused.out]).toEqual([
      1,
      expect.stringContaining('Vapi refuses the API key (401).'),
    ])
    expect(refused.out + refused.err).not.toContain(apiKey)
    const dry = await callbook.run(['source', 'import', id, '--since', '90d', '--dry-run'], { env })
    expect([dry.code, dry.out]).toEqual([1, 'Vapi refuses the API key (401).\n'])
    for (const [args, words] of [
      [[id], '--since: is required'],
      [[id, '--since', '0d'], '--since: must be'],
      [[id, '--since', '9d', '--limit', 'x'], '--limit: must be'],
      [[id, '--since', '9d', '--recordings'], '--recordings: needs a project that keeps recordings'],
      [['retell', '--since', '9d'], 'There is no source retell'],
    ] as const) {
      const { code, err } = await callbook.run(['source', 'import', ...args], { env })
      expect([code, err]).toEqual([1, expect.stringContaining(words)])
    }
  })

  test('follows the import of the service that runs', async () => {
    await withService(
      async (service, callbook) => {
        const { run, fake } = await set(callbook, 150)
        const [followed] = await Promise.all([
          run('vapi', '--since', '90d', '--rate', '20'),
          until(() => fake.requests.length > 3).then(async () => {
            const second = await callbook.run(['source', 'import', 'vapi', '--since', '90d'], { env })
            expect([second.code, second.err]).toEqual([1, expect.stringContaining('being imported')])
          }),
        ])
        expect([followed.code, followed.value.created]).toEqual([0, 150])
        expect(service.services.ownsFolder).toBe(true)
        const stopped = await run('vapi', '--stop')
        expect(stopped.value.state).toBe('done')
      },
      freshFolder(),
      env,
    )
  })
})
