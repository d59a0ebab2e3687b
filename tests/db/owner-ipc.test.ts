import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { askOwner, OwnerServer } from '../../src/db/owner-ipc.ts'
import { freshFolder } from '../support/at-end.ts'
import { failureOf } from '../support/failure.ts'
import { runScript } from '../support/script.ts'
import { until } from '../support/until.ts'

const temporaryFolder = process.env.TMPDIR
let fresh: string

beforeEach(() => {
  fresh = freshFolder()
  process.env.TMPDIR = fresh
})

afterEach(() => {
  if (temporaryFolder === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = temporaryFolder
})

describe('the socket of the owner', () => {
  test('answers each question with its own answer, and is gone when it is closed', async () => {
    const { socket, ask } = open(fresh, async (question) => ({ answer: question }))
    await until(() => existsSync(join(fresh, 'owner.sock')))
    const questions = ['one', 'two', 'three']
    const answers = await Promise.all(questions.map((question) => ask(question)))
    expect(answers).toEqual(questions.map((answer) => ({ answer })))
    socket.close()
    expect(existsSync(join(fresh, 'owner.sock'))).toBe(false)
  })

  test('is in a private folder of its own when the data folder cannot hold it, which is reported', async () => {
    // Stands for a volume that holds no sockets: a folder is in the way.
    mkdirSync(join(fresh, 'owner.sock', 'in the way'), { recursive: true })
    const { socket, ask, failures } = open(fresh, async () => ({ is: 'heard' }))
    await until(async () => (await ask('?').catch(() => null)) !== null)
    expect(failures).toHaveLength(1)
    const elsewhere = readFileSync(join(fresh, 'owner.folder'), 'utf8')
    expect(lstatSync(elsewhere).mode & 0o777).toBe(0o700)
    expect(readdirSync(elsewhere)).toEqual(['owner.sock'])
    socket.close()
    expect(existsSync(elsewhere)).toBe(false)
  })

  test('is found again after an owner that was killed, however long the path of the folder is', async () => {
    const folder = join(fresh, 'long'.repeat(30))
    mkdirSync(folder)
    const killed = runScript(
      `const { OwnerServer } = await import('./src/db/owner-ipc.ts')
       new OwnerServer({ folder: process.argv.at(-1), answer: async () => ({}), onFailure: console.error })
       setInterval(() => undefined, 1000)
       console.log('listens')`,
      folder,
    )
    await killed.said('listens')
    const left = readFileSync(join(folder, 'owner.folder'), 'utf8')
    await killed.kill()
    const { socket, ask, failures } = open(folder, async () => ({ is: 'heard' }))
    await until(async () => (await ask('?').catch(() => null)) !== null)
    expect([existsSync(left), failures]).toEqual([false, []])
    socket.close()
  })

  const seizures: [string, (path: string) => void][] = [
    ['a folder that anybody may write to', (path) => chmodSync(path, 0o777)],
    ['a link', (path) => symlinkSync(moved(path), path)],
  ]
  // Only root can give a folder away.
  if (process.getuid?.() === 0) seizures.push(['a folder of another user', (path) => chownSync(path, 1, 1)])
  test.each(seizures)('is not asked in %s', async (_, seize) => {
    const folder = join(fresh, 'long'.repeat(30))
    mkdirSync(folder)
    const { socket, ask } = open(folder, async () => ({ is: 'heard' }))
    await until(async () => (await ask('?').catch(() => null)) !== null)
    seize(readFileSync(join(folder, 'owner.folder'), 'utf8'))
    expect(String(await failureOf(ask('?')))).toContain('is not a private folder')
    socket.close()
  })

  test('closes a connection that sends an endless line, and answers the others', async () => {
    const { socket, ask } = open(fresh, async () => ({ is: 'heard' }))
    const path = join(fresh, 'owner.sock')
    await until(() => existsSync(path))
    const stranger = connect(path, () => stranger.write('x'.repeat(100_000)))
    await new Promise((resolve) => stranger.on('close', resolve))
    expect(await ask('?')).toEqual({ is: 'heard' })
    socket.close()
  })

  const junk: [string, string][] = [
    ['no JSON', '{"id":1,\n'],
    ['no object', 'null\n'],
    ['a line without end', 'x'.repeat(100_000)],
  ]
  test.each(junk)(
    'is not trusted when it answers with %s; the next question finds the owner',
    async (_, sent) => {
      const path = join(fresh, 'owner.sock')
      const stranger = createServer((asked) => asked.write(sent))
      stranger.listen(path)
      await once(stranger, 'listening')
      expect(String(await failureOf(askOwner(fresh, '?', new AbortController())))).toContain(
        'not a process of this service',
      )
      stranger.close()
      const { socket, ask } = open(fresh, async () => ({ is: 'heard' }))
      await until(async () => (await ask('?').catch(() => null)) !== null)
      socket.close()
    },
  )

  test('is not waited for beyond a limit when it does not answer', async () => {
    const { socket, ask } = open(fresh, () => new Promise(() => undefined), 100)
    await until(() => existsSync(join(fresh, 'owner.sock')))
    expect(String(await failureOf(ask('?')))).toContain('does not answer')
    socket.close()
  })

  test('is not waited for by a process that closes', async () => {
    const { socket } = open(fresh, () => new Promise(() => undefined))
    await until(() => existsSync(join(fresh, 'owner.sock')))
    const closing = new AbortController()
    const asked = failureOf(askOwner(fresh, '?', closing))
    await Bun.sleep(20)
    closing.abort()
    expect(await asked).toBeInstanceOf(Error)
    socket.close()
  })
})

function moved(path: string): string {
  renameSync(path, `${path}-moved`)
  return `${path}-moved`
}

function open(folder: string, answer: (question: string) => Promise<object>, withinMs?: number) {
  const failures: unknown[] = []
  const socket = new OwnerServer({ folder, answer, onFailure: (error) => failures.push(error) })
  const options = { signal: new AbortController().signal, ...(withinMs === undefined ? {} : { withinMs }) }
  return { socket, ask: (question: string) => askOwner(folder, question, options), failures }
}
