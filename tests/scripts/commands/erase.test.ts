import { describe, expect, test } from 'bun:test'
import { CommandLine, fileOf, linesOf } from '../../support/command-line.ts'
import { startService } from '../../support/service.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'

async function withCalls(callbook: CommandLine, word: string): Promise<string> {
  const id = await callbook.project('Acme')
  const [mine, theirs] = ['+15557294053', '+15557294054']
  const calls = [
    { id: 'a', callerNumber: mine, summary: word },
    { id: 'b', calledNumber: '1 (555) 729-4053', summary: word },
    { id: 'c', callerNumber: theirs, status: 'completed', createdAt: '2026-01-01T00:00:00.000Z' },
  ]
  await callbook.run(['calls', 'import', fileOf(linesOf(calls)), '--project', id])
  return id
}

describe('callbook erase and hold', () => {
  test('erases a number to the last byte, but for what is on hold', async () => {
    const callbook = new CommandLine()
    const word = newWord()
    const id = await withCalls(callbook, word)
    const erase = (...args: string[]) => callbook.json(['erase', '--project', id, ...args])
    const number = ['--number', '+1 555 729 4053']
    expect((await erase(...number, '--dry-run')).value).toEqual({ calls: 2, onHold: 0 })
    const set = ['hold', 'set', '--project', 'Acme', '--call', 'b', '--reason', 'Court order 7']
    const { value: hold } = await callbook.json(set)
    expect(hold).toMatchObject({ callId: 'b', number: null, reason: 'Court order 7' })
    expect((await callbook.spawned(['hold', 'list', '--project', id])).out).toContain('Court order 7')
    expect(await erase(...number)).toMatchObject({
      code: 0,
      err: '',
      value: {
        id: expect.stringMatching(/^era_/),
        calls: 1,
        deleted: 1,
        onHold: 1,
        doneAt: expect.any(String),
      },
    })
    expect((await callbook.json(['hold', 'lift', hold.id, '--project', id])).value).toEqual({
      id: hold.id,
      lifted: true,
    })
    expect((await erase(...number)).value).toMatchObject({ calls: 1, deleted: 1, onHold: 0 })
    expect(await findTraces(callbook.dataDir, tracesOfWord(word))).toEqual([])
    expect((await callbook.run(['erase', '--project', id, '--before', '2026-01-02T00:00:00Z'])).out).toMatch(
      /^Erased 1 call \(era_\w+\)\. The last byte was gone at /,
    )
  })

  test('waits for the service that runs on the folder', async () => {
    const callbook = new CommandLine()
    const id = await withCalls(callbook, 'word')
    const service = await startService({ dataDir: callbook.dataDir })
    const { value } = await callbook.json(['erase', '--project', id, '--number', '+15557294053'])
    expect(value).toMatchObject({ calls: 2, deleted: 2 })
    await service.stop()
  })

  test('says what is wrong with its options', async () => {
    const callbook = new CommandLine()
    const id = await callbook.project()
    const errors: [string[], string][] = [
      [['erase', '--project', id], 'Use exactly one of --number and --before.\n'],
      [
        ['erase', '--project', id, '--number', 'x'],
        '--number: must be a whole phone number, such as +15557294053\n',
      ],
      [['hold', 'set', '--project', id, '--reason', 'r'], 'Use exactly one of --call and --number.\n'],
      [
        ['hold', 'set', '--project', id, '--reason', 'r', '--call', 'no'],
        'No call in this project has this id',
      ],
    ]
    for (const [args, sentence] of errors) {
      const { code, err } = await callbook.run(args)
      expect([code, err.startsWith(sentence) ? sentence : err]).toEqual([1, sentence])
    }
  })
})
