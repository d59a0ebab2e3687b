import { afterEach, describe, expect, test } from 'bun:test'
import { AppError } from '../../src/errors.ts'
import { Thread } from '../../src/threads/thread.ts'
import { failureOf } from '../support/failure.ts'
import { until } from '../support/until.ts'
import type { EchoApi } from './echo-worker.ts'

type EchoData = { greeting: string }
type EchoOptions = Partial<ConstructorParameters<typeof Thread<EchoApi, EchoData, string>>[0]>
const threads: Thread<EchoApi, EchoData, string>[] = []

function echoThread(options: EchoOptions = {}) {
  const thread = new Thread<EchoApi, EchoData, string>({
    script: new URL('./echo-worker.ts', import.meta.url),
    name: 'The echo',
    data: () => ({ greeting: 'Hello' }),
    ...options,
  })
  threads.push(thread)
  return thread
}

afterEach(async () => {
  await Promise.all(threads.splice(0).map((thread) => thread.close()))
})

describe('a terminated worker', () => {
  test('rejects what waits, and the next request starts another at once', async () => {
    const thread = echoThread()
    await thread.ask('count')
    const waiting = failureOf(thread.ask('later', 60_000))
    thread.terminate(new Error('It takes too long'))
    expect(await waiting).toMatchObject({ message: 'It takes too long' })
    expect(await thread.ask('count')).toBe(1)
  })

  test('that does nothing is simply started again', async () => {
    const thread = echoThread()
    thread.terminate(new Error('Nothing waits for this'))
    expect(await thread.ask('greet', 'Ada')).toBe('Hello Ada')
  })
})

describe('a request', () => {
  test('resolves to what the method returns, directly or as a promise', async () => {
    const thread = echoThread()
    expect(await thread.ask('greet', 'Ada')).toBe('Hello Ada')
    expect(await thread.ask('later', 5)).toBe('later')
  })

  test('does not wait for an earlier asynchronous one', async () => {
    const thread = echoThread()
    const order: string[] = []
    await Promise.all([
      thread.ask('later', 200).then((answer) => order.push(answer)),
      thread.ask('greet', 'Ada').then((answer) => order.push(answer)),
    ])
    expect(order).toEqual(['Hello Ada', 'later'])
  })

  test('is rejected with the message and the code of what the method throws', async () => {
    const error = await failureOf(echoThread().ask('fail', 'no'))
    expect(error).toMatchObject({ message: 'no', code: 'ECHO' })
  })

  test('whose arguments cannot be cloned is rejected and does not count as waiting', async () => {
    const thread = echoThread({ waitingMax: 1 })
    const uncloneable = (() => 'Ada') as unknown as string
    expect(await failureOf(thread.ask('greet', uncloneable))).toMatchObject({ name: 'DataCloneError' })
    expect(await thread.ask('greet', 'Ada')).toBe('Hello Ada')
  })

  test('beyond the limit is refused as unavailable', async () => {
    const thread = echoThread({ waitingMax: 2 })
    const waiting = [thread.ask('later', 100), thread.ask('later', 100)]
    expect(await failureOf(thread.ask('greet', 'Ada'))).toMatchObject({ code: 'unavailable' })
    expect(await Promise.all(waiting)).toEqual(['later', 'later'])
    expect(await thread.ask('greet', 'Ada')).toBe('Hello Ada')
  })
})

test('an idle worker ends, and the next request starts another', async () => {
  const thread = echoThread({ idleMs: 100 })
  expect(await thread.ask('count')).toBe(1)
  await until(async () => {
    await Bun.sleep(300)
    return (await thread.ask('count')) === 1
  })
  const busy = thread.ask('later', 500)
  await Bun.sleep(300)
  expect(await busy).toBe('later')
})

test('events reach the thread that started the worker', async () => {
  const events: string[] = []
  await echoThread({ onEvent: (event) => events.push(event) }).ask('tell', 'news')
  expect(events).toEqual(['news'])
})

describe('a worker that ends unexpectedly', () => {
  test('rejects waiting requests as unavailable, with the cause, and can be used again after a delay', async () => {
    const failures: { message: string; delayMs: number }[] = []
    let restarts = 0
    const thread = echoThread({
      onFailure: ({ message }, delayMs) => failures.push({ message, delayMs }),
      onRestart: () => restarts++,
    })
    const waiting = failureOf(thread.ask('later', 5_000))
    await thread.ask('crash')
    const error = await waiting
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1, cause: { message: 'crashed' } })
    expect(thread.isUp).toBe(false)
    expect(await failureOf(thread.ask('greet', 'Ada'))).toMatchObject({ code: 'unavailable' })

    await until(() => restarts === 1)
    expect(thread.isUp).toBe(true)
    expect(await thread.ask('greet', 'Ada')).toBe('Hello Ada')
    expect(failures).toEqual([{ message: 'crashed', delayMs: 100 }])
  })

  test('is restarted with growing delays while it fails, and at once after it has answered', async () => {
    const delays: number[] = []
    const thread = echoThread({
      script: new URL('./missing-worker.ts', import.meta.url),
      onFailure: (_, delayMs) => delays.push(delayMs),
      onRestart: () => void thread.ask('greet', 'Ada').catch(() => undefined),
    })
    await failureOf(thread.ask('greet', 'Ada'))
    await until(() => delays.length === 4)
    expect(delays).toEqual([100, 200, 400, 800])
  })
})

describe('closing', () => {
  test('answers waiting requests if it is closed that way', async () => {
    const thread = echoThread({ onClose: 'finish' })
    const waiting = [thread.ask('later', 100), thread.ask('block', 20), thread.ask('greet', 'Ada')]
    await thread.close()
    expect(await Promise.all(waiting)).toEqual(['later', 'blocked', 'Hello Ada'])
  })

  test('otherwise rejects waiting requests, and the worker skips those it has not begun', async () => {
    const thread = echoThread({ closeWithinMs: 600_000 })
    await thread.ask('greet', 'Ada')
    // Unless they are skipped, `close` takes longer than a test may.
    const waiting = Array.from({ length: 400 }, () => failureOf(thread.ask('block', 200)))
    await thread.close()
    for (const error of await Promise.all(waiting)) expect(String(error)).toContain('The echo is closed')
  })

  test('does not wait without limit for a blocked worker', async () => {
    const thread = echoThread({ closeWithinMs: 50 })
    await thread.ask('greet', 'Ada')
    const waiting = failureOf(thread.ask('block', 1_000))
    await thread.close()
    expect(String(await waiting)).toContain('closed')
  })

  test('refuses every later request, and starts no worker', async () => {
    const thread = echoThread()
    await thread.close()
    expect(String(await failureOf(thread.ask('greet', 'Ada')))).toContain('The echo is closed')
    await thread.close()
  })
})
