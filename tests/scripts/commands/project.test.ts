import { describe, expect, test } from 'bun:test'
import { CommandLine, fileOf, linesOf } from '../../support/command-line.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'

describe('callbook project', () => {
  test('a project is created once, and listed', async () => {
    const callbook = await new CommandLine().withDatabase()
    expect((await callbook.json(['project', 'list'])).value).toEqual([])
    const created = await callbook.json(['project', 'create', 'Acme Müller'])
    expect(created).toMatchObject({ code: 0, err: '', value: { name: 'Acme Müller' } })
    expect(Object.keys(created.value)).toEqual(['id', 'name'])
    expect((await callbook.json(['project', 'list'])).value).toEqual([created.value])
    const again = await callbook.run(['project', 'create', 'Acme Müller', '--json'])
    expect(again).toEqual({ code: 1, out: '', err: 'name: is taken by another project\n' })
    expect((await callbook.spawned(['project', 'list'])).out).toContain('Acme Müller')
  })

  test('several are created at once, and those before a bad name are told', async () => {
    const callbook = await new CommandLine().withDatabase()
    const created = await callbook.json(['project', 'create', 'One', 'Two'])
    expect(created).toMatchObject({ code: 0, err: '', value: [{ name: 'One' }, { name: 'Two' }] })
    const partly = await callbook.json(['project', 'create', 'Three', 'Two', 'Four'])
    expect(partly).toMatchObject({
      code: 1,
      value: [{ name: 'Three' }],
      err: 'Two: name: is taken by another project\n',
    })
    const { value: all } = await callbook.json(['project', 'list'])
    expect(all).toEqual([...created.value, ...partly.value])
  })

  test('a blank name is refused', async () => {
    const callbook = await new CommandLine().withDatabase()
    expect(await callbook.run(['project', 'create', ' '])).toMatchObject({
      code: 1,
      err: 'name: must not be blank\n',
    })
    const id = await callbook.project()
    expect(await callbook.run(['project', 'rename', id, ' '])).toMatchObject({
      code: 1,
      err: 'name: must not be blank\n',
    })
  })

  test('a renamed project is found only by its new name', async () => {
    const callbook = new CommandLine()
    const id = await callbook.project('Acme')
    expect(await callbook.json(['project', 'rename', 'Acme', 'Acme GmbH'])).toMatchObject({
      code: 0,
      err: '',
      value: { id, name: 'Acme GmbH' },
    })
    expect((await callbook.json(['project', 'list'])).value).toEqual([{ id, name: 'Acme GmbH' }])
    expect((await callbook.run(['project', 'rename', 'Acme', 'x'])).err).toContain('No project')
  })

  test('a removed project is gone: its key stops working, its name is free, and none of its bytes are left', async () => {
    const callbook = new CommandLine()
    const id = await callbook.project('Acme')
    const words = [newWord(), newWord()]
    const calls = fileOf(linesOf([{ id: 'c', summary: words[0] }]))
    await callbook.run(['calls', 'import', calls, '--project', id])
    await callbook.run(['knowledge', 'import', fileOf(`# ${words[1]}`, 'a.md'), '--project', id])
    const { value: key } = await callbook.json(['key', 'create', '--project', id, '--name', 'k'])
    expect(await callbook.json(['project', 'remove', 'Acme', '--yes'])).toMatchObject({
      code: 0,
      err: '',
      value: { id, deleted: true },
    })
    expect(await findTraces(callbook.dataDir, words.flatMap(tracesOfWord))).toEqual([])
    expect((await callbook.json(['project', 'list'])).value).toEqual([])
    expect((await callbook.run(['project', 'remove', id, '--yes'])).code).toBe(1)
    expect((await callbook.run(['key', 'revoke', key.id])).code).toBe(1)
    expect(await callbook.project('Acme')).not.toBe(id)
  })

  test('set changes only what it names, refuses what it cannot read, and names the option', async () => {
    const callbook = new CommandLine()
    const id = await callbook.project('Acme')
    const off = {
      id,
      name: 'Acme',
      retainDays: null,
      redact: [],
      country: null,
      keepNumbers: 'all',
      keepQuestionsDays: null,
      notesReading: false,
      membersMayDelete: true,
      timeZone: null,
      endSilentAfter: '24h',
      recordings: 'off',
      prices: null,
      recordingRetainDays: null,
      callerChannel: null,
    }
    expect((await callbook.json(['project', 'set', 'Acme'])).value).toEqual(off)
    const set = ['project', 'set', 'Acme', '--retain-days', '90', '--redact', 'phone,email,card']
    expect(await callbook.json([...set, '--country', 'us', '--note-reading', 'on'])).toMatchObject({
      code: 0,
      err: '',
      value: {
        ...off,
        retainDays: 90,
        redact: ['phone', 'email', 'card'],
        country: 'US',
        notesReading: true,
      },
    })
    const more = [
      '--retain-days',
      'off',
      '--keep-numbers',
      'last4',
      '--keep-questions',
      '30',
      '--redact',
      'off',
      '--time-zone',
      'europe/berlin',
      '--end-silent-after',
      'off',
    ]
    expect((await callbook.json(['project', 'set', id, ...more])).value).toEqual({
      ...off,
      country: 'US',
      keepNumbers: 'last4',
      keepQuestionsDays: 30,
      notesReading: true,
      timeZone: 'Europe/Berlin',
      endSilentAfter: null,
    })
    for (const [option, value, says] of [
      ['--retain-days', '0', 'must be at least 1'],
      ['--retain-days', 'soon', 'must be an integer'],
      ['--redact', 'phone,name', 'must be one of phone, email, card, iban, ssn'],
      ['--country', 'ZZ', 'must be a two-letter country code (ISO 3166-1), such as US, or off'],
      ['--keep-numbers', 'some', 'must be one of all, last4, none'],
      ['--keep-questions', '8', 'must be one of 7, 30'],
      ['--note-reading', 'yes', 'must be on or off'],
      ['--end-silent-after', 'soon', 'must be whole minutes, hours or days, such as 90m, 24h or 7d, or off'],
      ['--time-zone', '+02:00', 'must be a time zone (IANA), such as Europe/Berlin, or off'],
    ] as const) {
      const refused = await callbook.run(['project', 'set', id, option, value])
      expect(refused).toEqual({ code: 1, out: '', err: `${option}: ${says}\n` })
    }
  })

  test("control characters of a name do not reach people's terminals", async () => {
    const callbook = await new CommandLine().withDatabase()
    const refused = await callbook.run(['project', 'create', 'a\u001b[2Jb'])
    const unknown = await callbook.run(['key', 'list', '--project', 'a\u001b[2Jb'])
    expect([refused.code, unknown.code]).toEqual([1, 1])
    expect(refused.err).toContain('must not contain U+001B')
    expect(unknown.err).toContain('a\\u001b[2Jb')
    expect(refused.err + unknown.err).not.toContain('\u001b')
  })
})
