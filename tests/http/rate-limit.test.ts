import { describe, expect, test } from 'bun:test'
import { RateLimiter } from '../../src/http/rate-limit.ts'
import fc from '../support/fast-check.ts'

const startMs = Date.UTC(2026, 0, 31)

function limiterAt(perMinute: number, clock = { ms: startMs }) {
  return { clock, limiter: new RateLimiter({ perMinute, now: () => clock.ms }) }
}

/** What the headers of one more request say. */
function taken(limiter: RateLimiter) {
  const decision = limiter.take('a')
  const [, remaining, resetSeconds] = /;r=(\d+);t=(\d+)$/.exec(decision.headers.RateLimit ?? '') ?? []
  return { ...decision, remaining: Number(remaining), resetSeconds: Number(resetSeconds) }
}

function countAllowed(limiter: RateLimiter, requests: number, keyId = 'a'): number {
  return Array.from({ length: requests }, () => limiter.take(keyId)).filter(({ allowed }) => allowed).length
}

describe('rate limit', () => {
  test.each([1, 3, 7, 60, 601, 10_000])(
    'of %p requests a minute, exactly so many pass at once',
    (perMinute) => {
      expect(countAllowed(limiterAt(perMinute).limiter, perMinute * 2)).toBe(perMinute)
    },
  )

  test('the headers name the policy, what is left and when there is more', () => {
    const { limiter, clock } = limiterAt(60)
    expect(limiter.take('a')).toEqual({
      allowed: true,
      retryAfterSeconds: undefined,
      headers: { 'RateLimit-Policy': '"default";q=60;w=60', RateLimit: '"default";r=59;t=1' },
    })
    clock.ms += 60_000
    expect(taken(limiter).remaining).toBe(59)
  })

  test('a refusal says when to come back, and coming back then is allowed', () => {
    const { limiter, clock } = limiterAt(3)
    countAllowed(limiter, 3)
    const refused = limiter.take('a')
    expect(refused).toMatchObject({ allowed: false, retryAfterSeconds: 20 })
    expect(refused.headers).toEqual({
      'RateLimit-Policy': '"default";q=3;w=60',
      RateLimit: '"default";r=0;t=20',
    })
    clock.ms += 19_999
    expect(limiter.take('a').allowed).toBe(false)
    clock.ms += 1
    expect(limiter.take('a').allowed).toBe(true)
    expect(limiter.take('a').allowed).toBe(false)
  })

  test('requests at the permitted pace always pass', () => {
    for (const perMinute of [1, 7, 59, 1000]) {
      const { limiter, clock } = limiterAt(perMinute)
      countAllowed(limiter, perMinute)
      for (let request = 1; request <= 3000; request++) {
        clock.ms = startMs + (request * 60_000) / perMinute
        expect(limiter.take('a').allowed).toBe(true)
      }
    }
  })

  test('refused requests cost nothing', () => {
    const { limiter, clock } = limiterAt(60)
    countAllowed(limiter, 10_000)
    clock.ms += 1000
    expect(countAllowed(limiter, 10)).toBe(1)
  })

  test('each key has its own', () => {
    const { limiter } = limiterAt(2)
    expect(countAllowed(limiter, 5, 'a')).toBe(2)
    expect(countAllowed(limiter, 5, 'b')).toBe(2)
  })

  test('a clock set back by a year locks nobody out', () => {
    const { limiter, clock } = limiterAt(60)
    countAllowed(limiter, 60)
    clock.ms -= 365 * 86_400_000
    expect(limiter.take('a')).toMatchObject({ allowed: false, retryAfterSeconds: 1 })
    clock.ms += 1000
    expect(limiter.take('a').allowed).toBe(true)
  })

  test('only the latest 10,000 keys are remembered', () => {
    const { limiter } = limiterAt(1)
    countAllowed(limiter, 1, 'first')
    for (let key = 1; key < 10_000; key++) limiter.take(`k${key}`)
    expect(limiter.take('first').allowed).toBe(false)
    for (let key = 10_000; key < 20_000; key++) limiter.take(`k${key}`)
    expect(limiter.take('first').allowed).toBe(true)
  })

  test('whatever the traffic, no stretch of time lets more through than a burst and its refill', () => {
    const traffic = fc.record({
      perMinute: fc.integer({ min: 1, max: 200 }),
      pausesMs: fc.array(fc.oneof(fc.nat(50), fc.nat(20_000)), { minLength: 1, maxLength: 300 }),
    })
    fc.assert(
      fc.property(traffic, ({ perMinute, pausesMs }) => {
        const { limiter, clock } = limiterAt(perMinute)
        const passedMs: number[] = []
        for (const pauseMs of pausesMs) {
          clock.ms += pauseMs
          const { allowed, remaining, resetSeconds, retryAfterSeconds } = taken(limiter)
          if (allowed) passedMs.push(clock.ms)
          expect(remaining).toBeGreaterThanOrEqual(0)
          expect(remaining).toBeLessThan(perMinute)
          expect(resetSeconds).toBeWithin(1, 61)
          expect(retryAfterSeconds).toBe(allowed ? undefined : resetSeconds)
        }
        for (const [index, fromMs] of passedMs.entries()) {
          const inMinute = passedMs.filter((ms, at) => at >= index && ms < fromMs + 60_000).length
          expect(inMinute).toBeLessThanOrEqual(2 * perMinute)
        }
      }),
    )
  })

  test('what is said to remain does pass at once, and no more', () => {
    const sample = fc.tuple(fc.integer({ min: 1, max: 100 }), fc.nat(100), fc.nat(60_000))
    fc.assert(
      fc.property(sample, ([perMinute, before, pauseMs]) => {
        const { limiter, clock } = limiterAt(perMinute)
        countAllowed(limiter, before)
        clock.ms += pauseMs
        const { remaining } = taken(limiter)
        expect(countAllowed(limiter, perMinute + 1)).toBe(remaining)
      }),
    )
  })
})
