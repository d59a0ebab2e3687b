import { expect, test } from 'bun:test'
import { fileOf, linesOf, withService } from '../../support/command-line.ts'

test('callbook knowledge check counts the questions whose item is found, and fails below the least share', async () => {
  await withService(async ({ mintProject }, callbook) => {
    const project = await mintProject()
    const add = async (name: string, text: string) =>
      await (await project.send('POST', '/v1/knowledge', { name, text })).json()
    const refunds = await add('Refund policy', 'We refund any order within 30 days.')
    // More items than passages of an answer, so that one of them can be missed.
    for (let at = 0; at < 6; at++) await add('Opening hours', `Shop ${at} is open from nine to five.`)
    const other = await (await mintProject()).send('POST', '/v1/knowledge', { name: 'Other', text: 'Other.' })
    const otherId = (await other.json()).id
    const questions = linesOf([
      { query: 'Do you refund an order?', itemId: refunds.id },
      { query: 'When is the shop open?', name: 'Opening hours' },
      { query: 'Which shop is open from nine to five?', name: 'Refund policy' },
    ])
    const check = (content: string, ...more: string[]) =>
      callbook.json(['knowledge', 'check', fileOf(content), '--project', project.id, ...more])

    const found = await check(`${questions}\n`)
    expect([found.code, found.err]).toEqual([0, ''])
    expect(found.value).toMatchObject({ questions: 3, hit1: 2 / 3, hit5: 2 / 3 })
    expect(found.value.misses).toEqual([
      {
        line: 3,
        query: 'Which shop is open from nine to five?',
        name: 'Refund policy',
        found: expect.arrayContaining([expect.objectContaining({ name: 'Opening hours' })]),
      },
    ])
    expect((await check(questions, '--min-hit5', '0.66')).code).toBe(0)
    const below = await check(questions, '--min-hit5', '0.7')
    expect([below.code, below.err]).toEqual([1, 'hit5 is 0.667, below 0.7.\n'])

    // What another project has is not there; neither do bad lines count as questions.
    const bad = await check(
      linesOf([
        { query: 'Refund?', itemId: refunds.id },
        { query: 'Other?', itemId: otherId },
      ]) +
        linesOf([
          { query: ' ', name: 'x' },
          { query: 'Refund?' },
          { query: 'a', name: 'x', answer: 'b' },
          7,
        ]) +
        '{"query":\n',
    )
    expect([bad.code, bad.value]).toMatchObject([
      1,
      { questions: 2, hit1: 0.5, misses: [{ itemId: otherId }] },
    ])
    expect(bad.err.trim().split('\n')).toEqual([
      `Line 2: the project has no item ${otherId}`,
      'Line 3: query: must not be blank',
      'Line 4: itemId: or name is required, and not both',
      'Line 5: answer: is not known; a question has query, itemId, name',
      expect.stringMatching(/^Line 6: /),
      expect.stringMatching(/^Line 7: /),
    ])
    expect((await callbook.run(['knowledge', 'check', fileOf('\n'), '--project', project.id])).code).toBe(1)
    expect((await callbook.run(['knowledge', 'check', '/none', '--project', project.id])).err).toContain(
      'no such file',
    )
    const share = await callbook.spawned([
      'knowledge',
      'check',
      '-',
      '--project',
      project.id,
      '--min-hit5',
      '90',
    ])
    expect([share.code, share.err]).toEqual([1, '--min-hit5 must be a number from 0 to 1, such as 0.9.\n'])
  })
})
