import { describe, expect, spyOn, test } from 'bun:test'
import { Background } from '../../src/threads/background.ts'
import { failureOf } from '../support/failure.ts'
import { until } from '../support/until.ts'

type BackgroundOptions = ConstructorParameters<typeof Background>[0]

function background(work: BackgroundOptions['work'], options: Partial<BackgroundOptions> = {}): Background {
  return new Background({ work, delayMs: 1, retryMs: 1, onFailure: () => undefined, ...options })
}

/** Work whose runs end when the test says so. */
function controlled() {
  const runs: { end(againMs?: number | null): void; fail(error: Error): void; signal: AbortSignal }[] = []
  const work = (signal: AbortSignal) =>
    new Promise<number | null>((resolve, reject) =>
      runs.push({ end: (againMs = null) => resolve(againMs), fail: reject, signal }),
    )
  return { runs, work }
}

describe('soon', () => {
  test('runs once for requests that come close together', async () => {
    let runs = 0
    const subject = background(async () => {
      runs++
      return null
    })
    for (let n = 0; n < 10; n++) subject.soon(20)
    await until(() => runs > 0)
    await Bun.sleep(60)
    expect(runs).toBe(1)
  })

  test('during a run asks for another, also when the run has nothing more to do', async () => {
    const { runs, work } = controlled()
    const subject = background(work)
    subject.soon()
    await until(() => runs.length === 1)
    subject.soon()
    runs[0]?.end(null)
    await until(() => runs.length === 2)
    runs[1]?.end(null)
    await Bun.sleep(30)
    expect(runs).toHaveLength(2)
  })

  test('a run that returns a time is followed by another', async () => {
    let runs = 0
    const subject = background(async () => (++runs < 5 ? 1 : null))
    subject.soon()
    await until(() => runs === 5)
    await Bun.sleep(30)
    expect(runs).toBe(5)
  })
})

describe('now', () => {
  test('starts a run after the call, which all callers before its start share', async () => {
    const { runs, work } = controlled()
    const subject = background(work)
    const first = subject.now()
    await until(() => runs.length === 1)
    const [second, third] = [subject.now(), subject.now()]
    expect(second).toBe(third)
    runs[0]?.end()
    await first
    await until(() => runs.length === 2)
    runs[1]?.end()
    await second
    expect(runs).toHaveLength(2)
  })

  test('runs again each time, however many runs there were before', async () => {
    let runs = 0
    const subject = background(async () => {
      runs++
      return null
    })
    for (let n = 1; n <= 3; n++) {
      await subject.now()
      await subject.idle()
      expect(runs).toBe(n)
    }
    await subject.close()
    await subject.idle()
    expect(await failureOf(subject.now())).toBeInstanceOf(Error)
    await subject.idle()
  })

  test('rejects when the run fails, and the work is tried again', async () => {
    let runs = 0
    const subject = background(async () => {
      if (++runs === 1) throw new Error('no')
      return null
    })
    expect(await failureOf(subject.now())).toMatchObject({ message: 'no' })
    await until(() => runs === 2)
  })
})

test('a failed run is tried again after a delay that doubles up to a limit, also when asked meanwhile', async () => {
  const waits: number[] = []
  const runNext: (() => void)[] = []
  // Fixed, because on a busy machine a millisecond may pass between a failure and the start of its timer.
  const clock = spyOn(performance, 'now').mockReturnValue(1_000)
  const timers = spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) => {
    waits.push(Math.ceil(ms))
    runNext.push(run)
    return { unref: () => undefined }
  }) as unknown as typeof setTimeout)
  try {
    let isBroken = true
    let failures = 0
    const subject = background(
      async () => {
        if (isBroken) throw new Error('no')
        return null
      },
      { delayMs: 5, retryMs: 1_000, retryMsMax: 5_000, onFailure: () => failures++ },
    )
    const settled = async () => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
    subject.soon()
    for (let run = 1; run <= 5; run++) {
      runNext.at(-1)?.()
      await settled()
      subject.soon()
    }
    expect(waits).toEqual([5, 1_000, 2_000, 4_000, 5_000, 5_000])
    expect(failures).toBe(5)
    isBroken = false
    await subject.now()
    subject.soon()
    expect(waits.at(-1)).toBe(5)
  } finally {
    timers.mockRestore()
    clock.mockRestore()
  }
})

describe('closing', () => {
  test('aborts the current run, waits for its end and starts no other', async () => {
    const { runs, work } = controlled()
    const failures: unknown[] = []
    const subject = background(work, { onFailure: (error) => failures.push(error) })
    subject.soon()
    await until(() => runs.length === 1)
    let isClosed = false
    const closing = subject.close().then(() => {
      isClosed = true
    })
    const [run] = runs
    expect(run?.signal.aborted).toBe(true)
    await Bun.sleep(10)
    expect(isClosed).toBe(false)
    run?.fail(run.signal.reason)
    await closing
    expect(failures).toEqual([])
    subject.soon()
    expect(await failureOf(subject.now())).toBeInstanceOf(Error)
    await Bun.sleep(20)
    expect(runs).toHaveLength(1)
  })
})
