import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { redactionKinds } from '../../src/redaction/kinds.ts'
import { matchesIn } from '../../src/redaction/matches.ts'
import { redact } from '../../src/redaction/redact.ts'
import { finished, TimeSlices } from '../../src/threads/time-slices.ts'

const options = { kinds: redactionKinds, country: 'US' }

test('others are answered while one string of digits is redacted, and the result is the same', async () => {
  const text = `${'4 1 5 5 5 5 0 1 4 1, '.repeat(8_000)} a@b.example`
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const slices = new TimeSlices()
  const [one, other] = await Promise.all([
    slices.run(redact(text, options)),
    slices.run(redact(text, options)),
  ])
  isOver = true
  expect(turns).toBeGreaterThan(5)
  expect(one).toEqual(finished(redact(text, options)))
  expect(other).toEqual(one)
  expect(one.text).toEndWith(' [email]')
})

test('work that fails is the only one that does', async () => {
  const slices = new TimeSlices()
  const fails = slices.run(
    (function* () {
      for (let yields = 0; yields < 1_000_000; yields++) yield
      throw new Error('fails')
    })(),
  )
  const works = slices.run(redact('a@b.example, '.repeat(20_000), options))
  await expect(fails).rejects.toThrow('fails')
  expect((await works).counts).toEqual({ email: 20_000 })
})

test.each([
  ['a run longer than a window', `a ${'7'.repeat(300_000)} ${'12 '.repeat(5)}`],
  ['short ones across all windows', '12 345 x '.repeat(30_000)],
  ['words at each place of a window', `${'ab '.repeat(21_845)}${' double seven'.repeat(300)}`],
])('a long text is searched as a whole: %s', (_, text) => {
  const pattern = /\d+|\bdouble seven\b/g
  const asPlain = (found: Iterable<RegExpMatchArray | undefined>) =>
    [...found].flatMap((match) => (match ? [`${match.index} ${match[0].length}`] : []))
  expect(asPlain(matchesIn(text, pattern))).toEqual(asPlain(text.matchAll(pattern)))
})

test('what begins in one part of a long run and ends in the next is found', () => {
  for (const groups of [990, 1_003, 1_004, 1_005, 1_020, 2_008]) {
    const text = `${'9 '.repeat(groups)}4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1`
    expect(finished(redact(text, options)).text).toBe(`${'9 '.repeat(groups)}[card]`)
  }
})

test('the libraries are loaded only where they are needed', () => {
  const src = join(import.meta.dir, '../../src')
  const script = `
    for (const file of ['services/services.ts', 'server.ts', 'calls/keeping/phone-number.ts']) {
      await import('${src}/' + file)
      console.log(Object.keys(require.cache).some((path) => path.includes('libphonenumber')))
    }`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script])
  expect(stdout.toString().split('\n')).toEqual(['false', 'false', 'true', ''])
})
