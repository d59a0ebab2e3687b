import { cut, latencyOf } from '../call-fields.ts'
import { type KeptSpan, type KeyedSpan, numberOf, textOf } from './kept-span.ts'
import { type SessionEvent, unquoted } from './session-update.ts'

const tagsMax = 100
const judgePrefix = 'lk.judge.'

/** What was said and done, by the items of a session's history. */
export function eventsOfItems(items: readonly KeptSpan[]): SessionEvent[] {
  let agentId: string | undefined
  let question: KeptSpan | undefined
  return items.flatMap((item): SessionEvent[] => {
    const [atMs, role, name] = [item.startMs, textOf(item, 'role'), textOf(item, 'tool')]
    const text = textOf(item, 'text')
    switch (textOf(item, 'type')) {
      case 'message':
        if (role === 'assistant') return [replyOf(item, question, agentId)]
        if (role !== 'user') return []
        question = item
        return [{ atMs, role, text }]
      case 'function_call':
        return [{ atMs, kind: 'tool_call', name, agentId, text: textOf(item, 'given') }]
      case 'function_call_output':
        return [{ atMs, kind: 'tool_result', name, agentId, text: unquoted(textOf(item, 'answered')) }]
      case 'agent_handoff':
        agentId = textOf(item, 'to')
        // The first agent of a session is no transfer.
        return textOf(item, 'from') ? [{ atMs, kind: 'transfer', name: agentId, text: undefined }] : []
      default:
        return []
    }
  })
}

/** @param question what the caller said before */
function replyOf(item: KeptSpan, question: KeptSpan | undefined, agentId: string | undefined): SessionEvent {
  const total = numberOf(item, 'latency')
  return {
    atMs: item.startMs,
    role: 'assistant',
    text: textOf(item, 'text'),
    interrupted: item.values.wasInterrupted === true,
    agentId,
    latencyMs: latencyOf(
      {
        total,
        // The caller waited for the first words of a reply, which alone have a total.
        endOfTurn: total === undefined ? undefined : numberOf(question, 'endOfTurnDelay'),
        transcription: total === undefined ? undefined : numberOf(question, 'transcriptionDelay'),
        model: numberOf(item, 'firstToken'),
        voice: numberOf(item, 'firstByte'),
      },
      1_000,
    ),
  }
}

/** How the session was judged, and its tags. Tags of LiveKit's own repeat its outcome and its evaluations. */
export function judgementsIn(all: readonly KeyedSpan[]): {
  evaluation: string | undefined
  callAnalysis: Record<string, unknown>
} {
  const byName = (name: string) => all.filter((span) => span.name === name)
  const tags = byName('tag').flatMap((span) => textOf(span, 'tag') ?? [])
  const [outcome] = byName('outcome')
  const tagged = ['success', 'fail'].find((each) => tags.includes(`lk.${each}`))
  const analysis: [string, unknown][] = []
  for (const tag of tags.slice(0, tagsMax)) {
    const [judge, verdict] = tag.startsWith(judgePrefix)
      ? tag.slice(judgePrefix.length).split(/:(?=[^:]*$)/)
      : []
    if (judge && verdict) analysis.push([judge, verdict])
    else if (!tag.startsWith('lk.')) analysis.push([`tag_${tag}`, true])
  }
  for (const span of byName('evaluation').slice(0, tagsMax)) {
    const judge = textOf(span, 'judge') ?? ''
    analysis.push([judge, textOf(span, 'verdict')], [`${judge}_reasoning`, textOf(span, 'reasoning')])
  }
  analysis.push(['outcome_reason', textOf(outcome, 'reason')])
  const entries = analysis.filter(([, value]) => value !== undefined)
  return {
    evaluation: textOf(outcome, 'outcome') ?? tagged,
    callAnalysis: Object.fromEntries(entries.map(([name, value]) => [`livekit_${cut(name)}`, value])),
  }
}
