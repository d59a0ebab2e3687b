import { describe, expect, test } from 'bun:test'
import { figuresOf, type Span } from '../../../src/calls/sound/figures.ts'
import fc from '../../support/fast-check.ts'

/** Two lines as the guide draws them: a sign is a tenth of a second, and of those that are no space somebody speaks. */
function figuresIn(caller: string, agent: string) {
  const { waits, deadAir, talkOver, monologueSeconds } = figuresOf(spansIn(caller), spansIn(agent))
  return {
    waits: waits.map(({ at, seconds }) => [rounded(at), rounded(seconds)]),
    deadAir: deadAir.map(([from, to]) => [rounded(from), rounded(to)]),
    talkOver: talkOver.map(({ from, to, by, yielded }) => [rounded(from), rounded(to), by, yielded]),
    monologue: rounded(monologueSeconds),
  }
}

function spansIn(line: string): Span[] {
  return [...line.matchAll(/\S+/g)].map(({ index, 0: sound }) => [index / 10, (index + sound.length) / 10])
}

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100
}

describe('an answer', () => {
  test('waits from the end of what the caller said to the first word of the agent', () => {
    expect(figuresIn('  ccccccc             ', '                aaaaaa').waits).toEqual([[1.6, 0.7]])
  })

  test('waits from the last word: pauses within what the caller says do not count', () => {
    expect(figuresIn('ccccc     ccccc       ', '                  aaaa').waits).toEqual([[1.8, 0.3]])
  })

  test('that begins before the caller has ended is none', () => {
    expect(figuresIn('ccccccccccc     ', '     aaaaaaaaaaa').waits).toEqual([])
  })

  test('is not what the agent says after itself, nor what it says first', () => {
    expect(figuresIn('         cccccc     ', 'aaa aaa         aaa ').waits).toEqual([[1.6, 0.1]])
  })
})

describe('an acknowledgement', () => {
  test('is a short sound within what the agent says: neither an answer follows, nor is it talk-over', () => {
    const { waits, talkOver, monologue } = figuresIn('       ccccc        ', 'aaaaaaaaaaaaaaaaaaaa')
    expect([waits, talkOver, monologue]).toEqual([[], [], 2])
  })

  test('counts as within if both begin at once', () => {
    expect(figuresIn('ccccc', 'aaaaaaa').talkOver).toEqual([])
  })

  test('in a pause is one only if the agent goes on at once', () => {
    expect(figuresIn('       cc         ', 'aaaaaa     aaaaaaa').waits).toEqual([])
    expect(figuresIn('       cc         ', 'aaaaaa      aaaaaa').waits).toEqual([[1.2, 0.3]])
  })

  test('in a pause is none if the caller has said something else since the last word of the agent', () => {
    expect(figuresIn('      cccccccc   ccc         ', 'aaaaa                 aaaaaa ').waits).toEqual([
      [2.2, 0.2],
    ])
  })

  test('of more than half a second is a turn', () => {
    const agent = 'aaaaaaaaaaaaaaaaaaaa'
    expect(figuresIn('       cccccc       ', agent).talkOver).toEqual([[0.7, 1.3, 'caller', false]])
  })
})

describe('talk-over', () => {
  test('is what both say for more than 0.3 seconds, by who began later', () => {
    expect(figuresIn('ccccccccc        ', '     aaaaaaaaaaaa').talkOver).toEqual([[0.5, 0.9, 'agent', false]])
    expect(figuresIn('ccccccccc        ', '      aaaaaaaaaaa').talkOver).toEqual([])
  })

  test('is an interruption if the agent falls silent for half a second because of it', () => {
    const caller = '          cccccccccccccccc'
    expect(figuresIn(caller, 'aaaaaaaaaaaaaaaa          ').talkOver).toEqual([[1, 1.6, 'caller', true]])
    // It goes on after a pause as within sentences.
    expect(figuresIn(caller, 'aaaaaaaaaaaaaaaa    aaaaaa').talkOver).toEqual([
      [1, 1.6, 'caller', false],
      [2, 2.6, 'agent', false],
    ])
  })

  test('is no interruption if the agent ends 3 seconds later, or long after the caller', () => {
    const caller = `          ${'c'.repeat(40)}`
    expect(figuresIn(caller, 'a'.repeat(41)).talkOver).toEqual([[1, 4.1, 'caller', false]])
    expect(figuresIn('          ccccccc', 'a'.repeat(23)).talkOver).toEqual([[1, 1.7, 'caller', false]])
  })
})

describe('dead air', () => {
  test('is where nobody speaks for more than 2 seconds, between the first and the last word', () => {
    const silence = ' '.repeat(21)
    expect(figuresIn(`${silence}ccc${silence}   ${silence}`, `${silence}   ${silence}aaa`).deadAir).toEqual([
      [2.4, 4.5],
    ])
    expect(figuresIn(`ccc${' '.repeat(20)}ccc`, '').deadAir).toEqual([])
  })
})

describe('a monologue', () => {
  test('goes on through pauses and acknowledgements, up to a turn of the caller or dead air', () => {
    expect(
      figuresIn('        cc                       ', 'aaaaaaaaaaaaaaaa      aaaaaaaaaaa').monologue,
    ).toBe(3.3)
    expect(
      figuresIn('                cccccc           ', 'aaaaaaaaaaaaaaaa      aaaaaaaaaaa').monologue,
    ).toBe(1.6)
    expect(figuresIn('', `aaaaaa${' '.repeat(21)}aaaaaaa`).monologue).toBe(0.7)
  })

  test('ends where the caller begins, even if the agent does not stop', () => {
    expect(figuresIn('          ccccccc       ', 'aaaaaaaaaaaaaaaaaaaaaaaa').monologue).toBe(1)
  })
})

test('whatever is said, its figures fit together', () => {
  const speaker = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 12, max: 400 })), { maxLength: 30 })
    .map((all) => {
      let at = 0
      return all.map(([pause, length]): Span => {
        const from = at + pause
        at = from + length
        return [from / 100, at / 100]
      })
    })
  fc.assert(
    fc.property(speaker, speaker, (caller, agent) => {
      const { waits, deadAir, talkOver, monologueSeconds } = figuresOf(caller, agent)
      expect(waits.every(({ seconds }) => seconds >= 0)).toBe(true)
      expect(waits.length).toBeLessThanOrEqual(agent.length)
      const isSilent = ([from, to]: Span) => [...caller, ...agent].every(([a, b]) => b <= from || a >= to)
      expect(deadAir.every((span) => isSilent(span) && span[1] - span[0] > 2)).toBe(true)
      const isOf = (spans: readonly Span[], from: number, to: number) =>
        spans.some(([a, b]) => a <= from && b >= to)
      expect(talkOver.every(({ from, to }) => isOf(caller, from, to) && isOf(agent, from, to))).toBe(true)
      const end = agent.at(-1)?.[1] ?? 0
      expect(monologueSeconds >= 0 && monologueSeconds <= end).toBe(true)
    }),
  )
})
