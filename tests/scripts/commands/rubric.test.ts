import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from '../../support/at-end.ts'
import { withService } from '../../support/command-line.ts'

test('callbook rubric sets, shows and lists versions beside a running service', async () => {
  await withService(async (service, callbook) => {
    const { id: project, fetch } = await service.mintProject()
    const of = ['--project', project]
    const none = await callbook.run(['rubric', 'show', ...of])
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('has no rubric')])
    expect((await callbook.json(['rubric', 'versions', ...of])).value).toEqual([])
    const file = join(freshFolder(), 'rubric.json')
    const criteria = [{ id: 'greeted', name: 'Greeted', question: 'Did the agent greet the caller?' }]
    writeFileSync(file, JSON.stringify({ criteria, evaluation: 'all' }))
    expect((await callbook.spawned(['rubric', 'set', file, ...of])).out).toBe('Version 1 is in force.\n')
    expect((await callbook.run(['rubric', 'set', file, ...of])).out).toBe('Nothing differs from version 1.\n')
    // What is shown can be changed and set again.
    const shown = (await callbook.json(['rubric', 'show', ...of])).value
    expect(shown).toEqual(await (await fetch('/v1/rubric')).json())
    writeFileSync(file, JSON.stringify({ ...shown, share: 0.5 }))
    expect((await callbook.json(['rubric', 'set', file, ...of])).value).toMatchObject({
      version: 2,
      share: 0.5,
    })
    expect((await callbook.json(['rubric', 'show', '1', ...of])).value).toMatchObject({ share: 1 })
    const { value } = await callbook.json(['rubric', 'versions', ...of])
    expect(value).toMatchObject([{ version: 2, createdBy: null }, { version: 1 }])
    writeFileSync(file, JSON.stringify({ criteria: [{ id: 'A' }], evaluation: ['b'] }))
    const bad = await callbook.run(['rubric', 'set', file, ...of])
    expect(bad.code).toBe(1)
    for (const field of ['criteria.0.id', 'criteria.0.name', 'evaluation']) expect(bad.err).toContain(field)
    writeFileSync(file, 'not json')
    expect((await callbook.run(['rubric', 'set', file, ...of])).err).toContain('is not JSON')
  })
})
