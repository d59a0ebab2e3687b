import type { CallChange, CallDetailsUpdate } from '../../src/calls/schemas.ts'
import { createRandom } from '../random.ts'
import practice from './practice.json' with { type: 'json' }

const dayMs = 86_400_000
const days = 58
const called = '+15555640100'
/** Each kind of call, how often it comes, and what is said; `{…}` is filled in. */
const { kinds } = practice

type Kind = (typeof kinds)[number]

const names = [
  'Maria Jensen',
  'Tom Alvarez',
  'Priya Nair',
  'Jonas Weber',
  'Aisha Bello',
  'Claire Dubois',
  'Ken Mori',
]
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday']
const agents = [
  { id: 'agent_front_desk', name: 'Front desk' },
  { id: 'agent_reminders', name: 'Reminders' },
]
const sources = ['vapi', 'retell', 'elevenlabs']

export interface MadeCall {
  id: string
  call: CallChange
  /** The platform that sends it. */
  source: string
}

/** Two months of calls of a dental practice. Only the dates differ between runs; a few calls are live. */
export function madeCalls(now: number): MadeCall[] {
  const random = createRandom(19)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value
  const bag = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind))
  const calls: MadeCall[] = []
  for (let day = days; day >= 0; day--) {
    const midnight = Math.floor((now - day * dayMs) / dayMs) * dayMs
    const isWeekend = [0, 6].includes(new Date(midnight).getUTCDay())
    const count = isWeekend ? 2 + Math.floor(random() * 3) : 9 + Math.floor(random() * 9)
    for (let n = 0; n < count; n++) {
      const at = midnight + (8 + random() * 10) * 3_600_000
      if (at > now - 600_000) continue
      calls.push(madeCall(`call-${1_000 + calls.length}`, pick(bag), at, { random, pick }))
    }
  }
  const live = [40, 95, 210].map((seconds, at) => {
    const { call, ...made } = madeCall(`call-live-${at + 1}`, kinds[at] as Kind, now - seconds * 1_000, {
      random,
      pick,
    })
    const { evaluation, endedReason, summary, duration, ...open } = call
    return {
      ...made,
      call: { ...open, status: 'live' as const, transcript: open.transcript?.slice(0, 3) ?? [] },
    }
  })
  return [...calls, ...live]
}

function madeCall(
  id: string,
  kind: Kind,
  at: number,
  { random, pick }: { random: () => number; pick: <Value>(values: readonly Value[]) => Value },
): MadeCall {
  const words: Record<string, string> = { name: pick(names), day: pick(weekdays) }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? word)
  const transcript = kind.lines.map((line) => ({
    role: line.startsWith('caller: ') ? ('user' as const) : ('assistant' as const),
    content: fill(line.slice(line.indexOf(': ') + 2)),
  }))
  let clock = 1.2
  const timeline = transcript.map(({ content }, turn) => {
    const entry = { atSeconds: Math.round(clock * 10) / 10, kind: 'turn' as const, turn }
    clock += 1.5 + content.length / 14 + random() * 3
    return entry
  })
  const isBooking = ['reschedule', 'book', 'cancel'].includes(kind.intent)
  const tool = isBooking
    ? [
        {
          atSeconds: (timeline[1]?.atSeconds ?? 0) + 4,
          kind: 'tool_call' as const,
          name: 'find_slot',
          text: '{"day":"Friday"}',
        },
        {
          atSeconds: (timeline[1]?.atSeconds ?? 0) + 5,
          kind: 'tool_result' as const,
          name: 'find_slot',
          text: '{"free":["10:40","15:10"]}',
        },
      ]
    : []
  const source = pick(sources)
  const agent = kind.intent === 'reminder' ? agents[1] : agents[0]
  return {
    id,
    source,
    call: {
      status: 'completed',
      duration: Math.round(clock + random() * 90),
      summary: fill(kind.summary),
      evaluation: kind.evaluation,
      endedReason: kind.endedReason,
      callerNumber: `+1555${String(5_640_000 + Math.floor(random() * 9_999)).padStart(7, '0')}`,
      calledNumber: called,
      isEngaged: kind.lines.length > 2,
      callAnalysis: {
        intent: kind.intent,
        patient: { name: words.name, isNew: random() < 0.2 },
        sentiment: pick(['calm', 'friendly', 'annoyed']),
      },
      transcript,
      createdAt: new Date(at).toISOString(),
      details: {
        ...(agent ? { agent: { ...agent, version: 'v3' } } : {}),
        direction: kind.intent === 'reminder' ? 'outbound' : 'inbound',
        costUsd: Math.round(clock * 12) / 10_000,
        ...costsOf(clock),
        latencyMs: 520 + Math.floor(random() * 300),
        timeline: [...timeline, ...tool].sort((a, b) => a.atSeconds - b.atSeconds),
        metadata: { campaign: source },
      },
    },
  }
}

/** What a call of so many seconds costs in parts, and uses. */
function costsOf(seconds: number): Pick<CallDetailsUpdate, 'costParts' | 'usage'> {
  const part = (name: string, kind: string, share: number) => ({
    name,
    kind,
    usd: Math.round(seconds * 12 * share) / 10_000,
  })
  return {
    costParts: [part('model', 'llm', 0.4), part('voice', 'tts', 0.35), part('transport', 'telephony', 0.25)],
    usage: [
      {
        kind: 'llm',
        provider: 'openai',
        model: 'gpt-4o',

        inputTokens: Math.round(seconds * 70),
        cachedTokens: Math.round(seconds * 50),
        outputTokens: 310,
      },
      { kind: 'tts', provider: 'cartesia', model: 'sonic-3', characters: Math.round(seconds * 8) },
      { kind: 'stt', provider: 'deepgram', model: 'nova-3', seconds: Math.round(seconds) },
    ],
  }
}
