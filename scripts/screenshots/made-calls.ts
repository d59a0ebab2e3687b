import type { CallChange } from '../../src/calls/schemas.ts'
import { createRandom } from '../random.ts'

const dayMs = 86_400_000
const days = 58
const called = '+15555640100'

type Line = readonly [speaker: 'caller' | 'agent', text: string]

/** The template of one kind of call; `{…}` is filled in. */
interface Kind {
  weight: number
  evaluation: string | null
  endedReason: string
  summary: string
  intent: string
  lines: readonly Line[]
}

const kinds: readonly Kind[] = [
  {
    weight: 9,
    evaluation: 'success',
    endedReason: 'customer-ended-call',
    summary: 'Moved the check-up from {day} to Friday at 10:40.',
    intent: 'reschedule',
    lines: [
      ['agent', 'Lakeside Dental, good morning. How can I help?'],
      ['caller', 'Hi, this is {name}. I have a check-up on {day} and I can’t make it.'],
      ['agent', 'No problem. Let me see what is free. Would Friday at 10:40 suit you?'],
      ['caller', 'Friday is good. Is it still with Doctor Okafor?'],
      ['agent', 'It is. I have moved it, and you get a text message in a minute.'],
      ['caller', 'Wonderful, thank you.'],
    ],
  },
  {
    weight: 7,
    evaluation: 'success',
    endedReason: 'customer-ended-call',
    summary: 'Booked a cleaning for {day} at 14:20.',
    intent: 'book',
    lines: [
      ['agent', 'Lakeside Dental, hello. What can I do for you?'],
      ['caller', 'I’d like to book a cleaning, some time this week.'],
      ['agent', 'I have {day} at 14:20 or Thursday at 9:00.'],
      ['caller', '{day}, please. My name is {name}.'],
      ['agent', 'Booked. Please come five minutes early.'],
    ],
  },
  {
    weight: 4,
    evaluation: 'success',
    endedReason: 'assistant-ended-call',
    summary: 'Asked about opening hours and parking.',
    intent: 'question',
    lines: [
      ['agent', 'Lakeside Dental, good afternoon.'],
      ['caller', 'Are you open on Saturdays? And can I park there?'],
      ['agent', 'We are open from nine to one on Saturdays. There are four places behind the house.'],
      ['caller', 'Great, that’s all I wanted to know.'],
    ],
  },
  {
    weight: 3,
    evaluation: 'fail',
    endedReason: 'silence-timed-out',
    summary: 'Asked twice about a refund for a missed appointment; the agent had no answer.',
    intent: 'refund',
    lines: [
      ['agent', 'Lakeside Dental, how can I help?'],
      ['caller', 'You charged me for an appointment that you cancelled. I want a refund.'],
      ['agent', 'I am sorry to hear that. Could you tell me your date of birth?'],
      ['caller', 'I already gave it to your colleague. Do I get the refund or not?'],
      ['agent', 'I can help you to book or move an appointment.'],
      ['caller', 'That is not what I asked.'],
    ],
  },
  {
    weight: 2,
    evaluation: 'fail',
    endedReason: 'assistant-error',
    summary: 'The booking system did not answer while {name} wanted to cancel.',
    intent: 'cancel',
    lines: [
      ['agent', 'Lakeside Dental, hello.'],
      ['caller', 'This is {name}, I need to cancel {day}.'],
      ['agent', 'One moment, please.'],
      ['caller', 'Hello? Are you still there?'],
    ],
  },
  {
    weight: 2,
    evaluation: null,
    endedReason: 'voicemail',
    summary: 'Reached a voicemail; left the reminder for {day}.',
    intent: 'reminder',
    lines: [['agent', 'This is Lakeside Dental with a reminder of your appointment on {day}.']],
  },
  {
    weight: 1,
    evaluation: 'partly',
    endedReason: 'assistant-forwarded-call',
    summary: 'Tooth pain since the weekend; passed on to the emergency line.',
    intent: 'emergency',
    lines: [
      ['agent', 'Lakeside Dental, how can I help?'],
      ['caller', 'My daughter has had terrible tooth pain since Saturday.'],
      ['agent', 'I am sorry. I am putting you through to the dentist on duty right now.'],
    ],
  },
]

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
  const transcript = kind.lines.map(([speaker, text]) => ({
    role: speaker === 'caller' ? ('user' as const) : ('assistant' as const),
    content: fill(text),
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
        ...(agent ? { agent } : {}),
        direction: kind.intent === 'reminder' ? 'outbound' : 'inbound',
        costUsd: Math.round(clock * 12) / 10_000,
        latencyMs: 520 + Math.floor(random() * 300),
        timeline: [...timeline, ...tool].sort((a, b) => a.atSeconds - b.atSeconds),
        metadata: { campaign: source },
      },
    },
  }
}
