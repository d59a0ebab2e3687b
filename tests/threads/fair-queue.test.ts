import { describe, expect, test } from 'bun:test'
import { FairQueue } from '../../src/threads/fair-queue.ts'

/** A queue whose jobs the test ends by hand, and the names of those that have begun. */
function byHand(waitingMax?: number) {
  const queue = new FairQueue<string>(waitingMax)
  const begun: string[] = []
  const ends = new Map<string, { resolve(result: string): void; reject(error: Error): void }>()
  const ask = (projectId: number | null, name: string) =>
    queue.do(projectId, name, () => {
      begun.push(`${projectId} ${name}`)
      return new Promise((resolve, reject) => ends.set(`${projectId} ${name}`, { resolve, reject }))
    })
  const end = async (job: string, result = '') => {
    await Bun.sleep(0)
    ends.get(job)?.resolve(result)
    await Bun.sleep(0)
  }
  return { ask, begun, end, ends }
}

describe('a fair queue', () => {
  test('does one job at a time, and gives each project a turn, however many jobs another has', async () => {
    const { ask, begun, end } = byHand()
    const wanted = ['a', 'b', 'c', 'd'].map((name) => ask(1, name))
    wanted.push(ask(2, 'a'), ask(2, 'b'), ask(null, 'a'))
    await Bun.sleep(0)
    expect(begun).toEqual(['1 a'])
    for (let at = 0; at < wanted.length; at++) await end(begun[at] ?? '')
    expect(begun).toEqual(['1 a', '1 b', '2 a', 'null a', '1 c', '2 b', '1 d'])
    await Promise.all(wanted)
  })

  test('does equal jobs of one project once while they wait, but not for another project', async () => {
    const { ask, begun, end } = byHand()
    const first = ask(1, 'busy')
    const equal = Array.from({ length: 60 }, () => ask(1, 'facets'))
    const other = ask(2, 'facets')
    await end('1 busy', 'done')
    await end('1 facets', 'mine')
    await end('2 facets', 'theirs')
    expect(begun).toEqual(['1 busy', '1 facets', '2 facets'])
    expect(await first).toBe('done')
    expect(await Promise.all(equal)).toEqual(equal.map(() => 'mine'))
    expect(await other).toBe('theirs')
  })

  test('does a job again for who asks while it is under way: what it found may be older than the request', async () => {
    const { ask, begun, end } = byHand()
    const first = ask(1, 'facets')
    await Bun.sleep(0)
    const later = ask(1, 'facets')
    await end('1 facets', 'old')
    await end('1 facets', 'new')
    expect(begun).toEqual(['1 facets', '1 facets'])
    expect([await first, await later]).toEqual(['old', 'new'])
  })

  test('refuses a project of which enough jobs wait, until one of them begins', async () => {
    const { ask, begun, end } = byHand(2)
    const wanted = [ask(1, 'a'), ask(1, 'b'), ask(1, 'c'), ask(1, 'c')]
    expect(() => ask(1, 'd')).toThrow('Too many such requests')
    wanted.push(ask(2, 'a'))
    await end('1 a')
    wanted.push(ask(1, 'd'))
    for (const job of ['1 b', '2 a', '1 c', '1 d']) await end(job)
    expect(begun).toEqual(['1 a', '1 b', '2 a', '1 c', '1 d'])
    await Promise.all(wanted)
  })

  test('goes on after a job that fails, which fails for all that share it', async () => {
    const { ask, begun, end, ends } = byHand()
    const wanted = [ask(1, 'busy'), ask(1, 'bad'), ask(1, 'bad'), ask(1, 'good')]
    const outcomes = Promise.allSettled(wanted)
    await end('1 busy')
    ends.get('1 bad')?.reject(new Error('bad'))
    await Bun.sleep(0)
    await end('1 good')
    expect(begun).toEqual(['1 busy', '1 bad', '1 good'])
    const statuses = (await outcomes).map(({ status }) => status)
    expect(statuses).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  })
})
