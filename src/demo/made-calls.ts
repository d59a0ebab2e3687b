import type { CallChange, CallDetailsUpdate } from '../calls/schemas.ts'
import practice from './practice.json' with { type: 'json' }

const dayMs = 86_400_000
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
const frontDesk = { id: 'agent_front_desk', name: 'Front desk' }
const reminders = { id: 'agent_reminders', name: 'Reminders', version: 'r1' }
/** A version of the front desk: since how many days ago it answers, how fast, and how often it fails beside what comes anyway. */
interface AgentVersion {
  version: string
  sinceDays: number
  latencyMs: number
  failsMore: number
}

const oldest = { version: 'v1', sinceDays: Number.POSITIVE_INFINITY, latencyMs: 640, failsMore: 0 }
/** The newest first. The second one was a mistake. */
const versions: AgentVersion[] = [
  { version: 'v3', sinceDays: 9, latencyMs: 520, failsMore: 0 },
  { version: 'v2', sinceDays: 19, latencyMs: 890, failsMore: 0.15 },
  oldest,
]
const sources = ['vapi', 'retell', 'elevenlabs']

export interface MadeCall {
  id: string
  call: CallChange
  /** The platform that sends it. */
  source: string
}

/**
 * The calls of a dental practice, the oldest first. Only the dates differ between runs; the last three are live.
 * @param days of how many days, some ten calls each
 */
export function madeCalls(now: number, days: number): MadeCall[] {
  const random = randomFrom(19)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value
  const failing = kinds.find(({ evaluation }) => evaluation === 'fail') as Kind
  const bag = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind))
  const calls: MadeCall[] = []
  for (let day = days - 1; day >= 0; day--) {
    const midnight = Math.floor((now - day * dayMs) / dayMs) * dayMs
    const isWeekend = [0, 6].includes(new Date(midnight).getUTCDay())
    const count = isWeekend ? 2 + Math.floor(random() * 3) : 9 + Math.floor(random() * 9)
    for (let n = 0; n < count; n++) {
      const at = midnight + (8 + random() * 10) * 3_600_000
      if (at > now - 600_000) continue
      const daysAgo = (now - at) / dayMs
      const kind = random() < versionAt(daysAgo).failsMore ? failing : pick(bag)
      calls.push(madeCall(`call-${1_000 + calls.length}`, kind, at, { random, pick, daysAgo }))
    }
  }
  const live = [40, 95, 210].map((seconds, at) => {
    const { call, ...made } = madeCall(`call-live-${at + 1}`, kinds[at] as Kind, now - seconds * 1_000, {
      random,
      pick,
      daysAgo: 0,
    })
    const { evaluation, endedReason, summary, duration, ...open } = call
    return {
      ...made,
      call: { ...open, status: 'live' as const, transcript: open.transcript?.slice(0, 3) ?? [] },
    }
  })
  return [...calls, ...live]
}

function versionAt(daysAgo: number): AgentVersion {
  return versions.find(({ sinceDays }) => daysAgo < sinceDays) ?? oldest
}

interface Making {
  random: () => number
  pick: <Value>(values: readonly Value[]) => Value
  daysAgo: number
}

/** Numbers from 0 to 1, the same for the same seed (Park and Miller). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 16_807) % 2_147_483_647
    return state / 2_147_483_647
  }
}

function madeCall(id: string, kind: Kind, at: number, { random, pick, daysAgo }: Making): MadeCall {
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
  const { version, latencyMs } = versionAt(daysAgo)
  const isReminder = kind.intent === 'reminder'
  return {
    id,
    source,
    call: {
      status: 'completed',
      duration: Math.round(clock + 2 + 90 * random() ** 5),
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
        agent: isReminder ? reminders : { ...frontDesk, version },
        direction: isReminder ? 'outbound' : 'inbound',
        costUsd: Math.round(clock * 12) / 10_000,
        ...costsOf(clock),
        latencyMs: latencyMs + Math.floor(random() * 300),
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
