import { describe, expect, test } from 'bun:test'
import { Jobs, type Turn } from '../../src/core/jobs.ts'
import { startFakeChat } from '../support/fake-chat.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The room of a process on its own, and what it has done with leases and the log. */
function openRoom({ isOwner = true } = {}) {
  const commits: (() => void)[] = []
  const taken: string[] = []
  const released: string[] = []
  const logged: string[] = []
  const note = (_: unknown, message?: string) => void logged.push(message ?? '')
  const jobs = new Jobs({
    owner: { isOwner },
    database: { onCommit: (listener) => void commits.push(listener) },
    leaseOf: (name) => ({
      take: async () => taken.push(name) > 0,
      release: async () => void released.push(name),
    }),
    log: { error: note, warn: note },
  })
  return { jobs, commit: () => commits.forEach((listener) => void listener()), taken, released, logged }
}

describe('the room of jobs', () => {
  test('has one job of each name', () => {
    const { jobs } = openRoom()
    const job = { name: 'silence', run: async () => undefined, failure: 'It failed' }
    jobs.add(job)
    expect(() => jobs.add(job)).toThrow('silence')
    expect(() => jobs.addOfEach({ ...job, run: async () => null, onFailure: () => undefined })).toThrow(
      'silence',
    )
  })

  test('aborts all at once, waits for what was begun, then ends each and lets its lease go', async () => {
    const { jobs, taken, released, logged } = openRoom()
    const order: string[] = []
    const aborted = (name: string, signal: AbortSignal) =>
      new Promise<void>((_, reject) =>
        signal.addEventListener('abort', () => {
          order.push(`${name} aborted`)
          setTimeout(() => {
            order.push(`${name} ended`)
            reject(signal.reason)
          }, 1)
        }),
      )
    const runner = jobs.add({
      name: 'runner',
      run: async ({ isMine, signal }: Turn) => {
        await isMine()
        await aborted('run', signal)
      },
      failure: 'It failed',
    })
    const beginner = jobs.add<number>({
      name: 'beginner',
      run: async () => undefined,
      failure: 'It failed',
      atEnd: async () => void order.push('at the end'),
    })
    runner.soon()
    beginner.begin(1, () => aborted('item', beginner.signal))
    await until(() => taken.length > 0)
    expect(beginner.underWay).toEqual([1])
    await jobs.close()
    expect(order.slice(0, 2).sort()).toEqual(['item aborted', 'run aborted'])
    expect(order.indexOf('at the end')).toBeGreaterThan(order.indexOf('item ended'))
    expect(released).toEqual(['runner'])
    expect(logged).toEqual([])
  })

  test('counts runs and what failed, by name', async () => {
    const { jobs, logged } = openRoom()
    let isBroken = true
    const job = jobs.add({
      name: 'often',
      run: async () => {
        if (isBroken) throw new Error('broken')
      },
      failure: 'It failed',
      retryMs: 1,
    })
    await job.now().catch(() => undefined)
    isBroken = false
    await job.now()
    await jobs.close()
    const [[name, totals] = ['', null]] = jobs.totals()
    expect(name).toBe('often')
    expect(totals).toMatchObject({ ended: 2, failed: 1 })
    expect(totals?.seconds).toBeGreaterThan(0)
    expect(logged).toEqual(['It failed and will be tried again'])
  })

  test('does nothing by itself in a process that does not own the folder', async () => {
    const { jobs, commit } = openRoom({ isOwner: false })
    const ran: string[] = []
    const add = (name: string, inEveryProcess: boolean) =>
      jobs.add({
        name,
        run: async () => void ran.push(name),
        commitMs: 0,
        inEveryProcess,
        failure: 'It failed',
      })
    add('of the owner', false)
    add('of every process', true)
    commit()
    await until(() => ran.length > 0)
    expect(ran).toEqual(['of every process'])
    // A command may do it all the same.
    await jobs.now('of the owner')
    expect(ran).toEqual(['of every process', 'of the owner'])
    await jobs.close()
  })

  test('does the work of each thing alone, and forgets the thing at its end', async () => {
    const { jobs } = openRoom()
    const ran: string[] = []
    const failed: string[] = []
    const each = jobs.addOfEach<string>({
      name: 'each',
      run: async (key) => {
        ran.push(key)
        if (key === 'bad') throw new Error('broken')
        return null
      },
      onFailure: (_, key) => failed.push(key),
      retryMs: 60_000,
    })
    each.soon('bad')
    await until(() => ran.length === 1)
    each.soon('good')
    await until(() => ran.length === 2)
    await each.idle()
    // It waits for its own retry, until it is another thing.
    each.soon('bad')
    await each.idle()
    expect(ran).toEqual(['bad', 'good'])
    each.end('bad')
    expect(each.has('bad')).toBe(false)
    await each.now('bad').catch(() => undefined)
    expect(ran).toEqual(['bad', 'good', 'bad'])
    expect(failed).toEqual(['bad', 'bad'])
    await jobs.close()
    await expect(each.now('good')).rejects.toThrow('aborted')
  })
})

describe('the jobs of the service', () => {
  // A renamed job would work twice while nodes of two versions share a database.
  test('have the names that other versions know', async () => {
    const chat = await startFakeChat()
    const service = await startService({
      env: { ANALYSIS_ENDPOINT: chat.url, ANALYSIS_MODEL: 'a-model' },
    })
    const names = service.services.core.jobs.totals().map(([name]) => name)
    await service.stop()
    await chat.stop()
    expect(names.sort()).toEqual([
      'alerts',
      'analyses',
      'embedding',
      'erasure',
      'erasure of projects',
      'erasures',
      'event counts',
      'expiry of alerts',
      'expiry of call sets',
      'expiry of questions',
      'expiry of sources',
      'expiry of webhooks',
      'fetches',
      'following',
      'following of indexes',
      'imports',
      'peaks',
      'questions',
      'recordings',
      'retention',
      'sessions',
      'silence',
      'webhook attempts',
      'webhooks',
      'words',
    ])
  })

  test('a part that cannot be closed keeps no other from being closed', async () => {
    const service = await startService()
    const closed: string[] = []
    service.services.core.onClose(() => closed.push('below'))
    service.services.core.onClose(() => {
      throw new Error('not closed')
    })
    await service.stop()
    expect(closed).toEqual(['below'])
    expect(service.logs.some(({ msg }) => msg === 'A part of the service could not be closed')).toBe(true)
    expect(service.services.ownsFolder).toBe(false)
  })
})
