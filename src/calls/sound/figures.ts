// What happened between caller and agent, from when each of them speaks: src/guide/sound.md says each in a sentence. The page
// imports this file, too.

/** In seconds. */
export type Span = [from: number, to: number]

/** When each channel's speaker speaks, in the order of time, no span touching the next. */
export type Speakers = readonly [first: readonly Span[], second: readonly Span[]]

/** Why nobody can tell who speaks when. */
export type Unmeasurable = 'mono' | 'channels' | 'mixed' | 'noisy' | 'format' | 'damaged' | 'short' | 'long'

/** Who speaks when in a recording, or the first reason why that cannot be told. */
export type Speech = Speakers | Unmeasurable

export interface Wait {
  /** When the answer begins. */
  at: number
  seconds: number
}

export interface TalkOver {
  from: number
  to: number
  /** Who began later. */
  by: 'caller' | 'agent'
  /** Whether the agent fell silent because of it. */
  yielded: boolean
}

export interface Figures {
  waits: Wait[]
  deadAir: Span[]
  talkOver: TalkOver[]
  monologueSeconds: number
}

/** When both are silent for longer, it is dead air. */
const deadAirSeconds = 2
/** When both speak for longer, they talk over each other. Shorter overlaps are how people take turns. */
const talkOverSeconds = 0.3
/** A caller's sound of up to so long within the agent's speech is an acknowledgement, */
const acknowledgementSeconds = 0.5
/** as it is in a pause of the agent, who goes on so soon that this is no answer. */
const atOnceSeconds = 0.3
/** An agent that is interrupted falls silent so soon, at most so long after the caller's last word, and stays silent for a while. */
const yieldsWithinSeconds = 3
const yieldsAfterSeconds = 0.5
const silentSeconds = 0.5

const never = Number.POSITIVE_INFINITY

/** Each is one pass over the spans, which may be many. */
export function figuresOf(caller: readonly Span[], agent: readonly Span[]): Figures {
  const acknowledgements = acknowledgementsOf(caller, agent)
  return {
    waits: waitsOf(caller, agent, acknowledgements),
    deadAir: deadAirOf(caller, agent),
    talkOver: talkOverOf(caller, agent, acknowledgements),
    monologueSeconds: monologueOf(
      caller.filter((said) => !acknowledgements.has(said)),
      agent,
    ),
  }
}

/** Short sounds of the caller within the agent's speech, or alone in a pause of it that ends at once. */
function acknowledgementsOf(caller: readonly Span[], agent: readonly Span[]): ReadonlySet<Span> {
  const all = new Set<Span>()
  let next = 0
  for (const [index, said] of caller.entries()) {
    if (lengthOf(said) > acknowledgementSeconds) continue
    while ((agent[next]?.[1] ?? never) <= said[0]) next++
    const spoken = agent[next]
    if (!spoken) break
    const isWithin = spoken[0] <= said[0] && said[1] <= spoken[1]
    const [before, after] = spoken[1] < said[1] ? [spoken, agent[next + 1]] : [agent[next - 1], spoken]
    const isInPause = before && after && said[1] <= after[0] && (caller[index - 1]?.[1] ?? 0) <= before[1] // Nothing else was said.
    if (isWithin || (isInPause && between(said[1], after[0]) < atOnceSeconds)) all.add(said)
  }
  return all
}

/** What the agent's first word waited for, each time that the caller spoke last and had ended. */
function waitsOf(
  caller: readonly Span[],
  agent: readonly Span[],
  acknowledgements: ReadonlySet<Span>,
): Wait[] {
  let next = 0
  return agent.flatMap(([at], index) => {
    while ((caller[next]?.[0] ?? at) < at) next++
    const said = caller[next - 1]
    if (!said || said[1] > at || (agent[index - 1]?.[1] ?? 0) >= said[1]) return []
    return acknowledgements.has(said) ? [] : [{ at, seconds: between(said[1], at) }]
  })
}

/** Between the first and the last word of the call. */
function deadAirOf(caller: readonly Span[], agent: readonly Span[]): Span[] {
  const silences: Span[] = []
  let end = never
  for (const [from, to] of [...caller, ...agent].sort(([a], [b]) => a - b)) {
    if (between(end, from) > deadAirSeconds) silences.push([end, from])
    end = end === never ? to : Math.max(end, to)
  }
  return silences
}

function talkOverOf(
  caller: readonly Span[],
  agent: readonly Span[],
  acknowledgements: ReadonlySet<Span>,
): TalkOver[] {
  const all: TalkOver[] = []
  let [one, other] = [0, 0]
  for (;;) {
    const [said, spoken] = [caller[one], agent[other]]
    if (!said || !spoken) return all
    const [from, to] = [Math.max(said[0], spoken[0]), Math.min(said[1], spoken[1])]
    if (between(from, to) > talkOverSeconds && !acknowledgements.has(said)) {
      const isOfCaller = said[0] > spoken[0]
      const yielded = isOfCaller && yields(said, spoken, agent[other + 1]?.[0] ?? never)
      all.push({ from, to, by: isOfCaller ? 'caller' : 'agent', yielded })
    }
    if (said[1] < spoken[1]) one++
    else other++
  }
}

/** @param goesOnAt when the agent speaks again */
function yields(said: Span, spoken: Span, goesOnAt: number): boolean {
  const isSoon =
    between(said[0], spoken[1]) <= yieldsWithinSeconds && between(said[1], spoken[1]) <= yieldsAfterSeconds
  return isSoon && between(spoken[1], goesOnAt) >= silentSeconds
}

/** The longest that the agent goes on without dead air, from one turn of the caller to the next. */
function monologueOf(turns: readonly Span[], agent: readonly Span[]): number {
  let [longest, start, end, next] = [0, 0, -never, 0]
  for (const [from, to] of agent) {
    if (between(end, from) > deadAirSeconds || start > end) start = Math.max(from, start)
    for (let turn = turns[next]; turn && turn[0] < to; turn = turns[++next]) {
      if (turn[0] > from) longest = Math.max(longest, turn[0] - start)
      start = Math.max(from, turn[1])
    }
    end = to
    longest = Math.max(longest, end - start)
  }
  return longest
}

export function secondsOf(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + lengthOf(span), 0)
}

function lengthOf([from, to]: Span): number {
  return between(from, to)
}

/** Rounds away what floating point adds: 0.9 - 0.6 is 0.30000000000000004. */
function between(from: number, to: number): number {
  return Math.round((to - from) * 1_000) / 1_000
}
