import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OwnerLine, OwnerSocket } from '../../src/db/owner-socket.ts'
import { failureOf } from '../support/failure.ts'
import { freshFolder } from '../support/script.ts'
import { until } from '../support/until.ts'

let fresh: ReturnType<typeof freshFolder>

beforeEach(() => {
  fresh = freshFolder()
})

afterEach(() => fresh.remove())

describe('the socket of the owner', () => {
  test('answers each question with its own answer, and is gone when it is closed', async () => {
    const { socket, line } = open(fresh.folder, async (question) => ({ answer: question }))
    await until(() => existsSync(join(fresh.folder, 'owner.sock')))
    const questions = ['one', 'two', 'three']
    const answers = await Promise.all(questions.map((question) => line.ask(question)))
    expect(answers).toEqual(questions.map((answer) => ({ answer })))
    line.close()
    socket.close()
    expect(existsSync(join(fresh.folder, 'owner.sock'))).toBe(false)
  })

  test('is elsewhere for a folder that holds none, which is told', async () => {
    const { socket, line, failures } = open(join(fresh.folder, 'missing'), async () => ({ is: 'heard' }))
    await until(() => failures.length > 0)
    await until(async () => (await line.ask('?').catch(() => null)) !== null)
    expect(await line.ask('?')).toEqual({ is: 'heard' })
    expect(failures).toHaveLength(1)
    line.close()
    socket.close()
  })

  test('is not waited for without end when it does not answer', async () => {
    const { socket, line } = open(fresh.folder, () => new Promise(() => undefined), 100)
    await until(() => existsSync(join(fresh.folder, 'owner.sock')))
    expect(String(await failureOf(line.ask('?')))).toContain('does not answer')
    line.close()
    socket.close()
  })
})

function open(folder: string, answer: (question: string) => Promise<object>, answerWithinMs?: number) {
  const failures: Error[] = []
  const socket = new OwnerSocket({ folder, answer, onFailure: (error) => failures.push(error) })
  return { socket, line: new OwnerLine(folder, answerWithinMs), failures }
}
