import {
  type FakeChat,
  goodJudgement,
  type RecordedChat,
  startFakeChat,
} from '../../tests/support/fake-chat.ts'

const because: Record<string, [pass: string, fail: string]> = {
  booked_or_clear_answer: [
    'The caller has an appointment at the end of the call.',
    'The caller hung up without an appointment and without an answer.',
  ],
  confirmed_the_date: [
    'The agent repeated the day and the time, and the caller agreed.',
    'The agent never repeated the time.',
  ],
  asked_only_what_is_needed: [
    'Each question was asked once.',
    'The agent asked for the name again, although the caller had said it.',
  ],
}

/** A server in place of a model, which judges the calls of the practice: most pass, some fail, a few are unknown. */
export async function startMadeModel(): Promise<FakeChat & { env: Record<string, string> }> {
  const chat = await startFakeChat({ says: judge })
  return {
    ...chat,
    env: { ANALYSIS_MODEL: 'qwen3-8b', ANALYSIS_ENDPOINT: chat.url, ANALYSIS_DELAY_SECONDS: '0' },
  }
}

interface Judged {
  turns: number[]
  quote: string
  rationale: string
  result: string
}

function judge(request: RecordedChat): unknown {
  // Its form is that of the schema that was sent.
  const judgement = goodJudgement(request) as { criteria?: Record<string, Judged> }
  const said = request.turns.filter(({ content }) => /[\p{L}\p{N}]/u.test(content))
  // Another question may have another answer.
  const chars = request.messages.reduce((sum, { content }) => sum + content.length, 0)
  for (const [at, [id, judged]] of Object.entries(judgement.criteria ?? {}).entries()) {
    const [pass = 'It did.', fail = 'It did not.'] = because[id] ?? []
    const isPassed = (chars + at * 7) % 5 !== 0
    const turn = said.at(-1 - at) ?? said[0]
    Object.assign(judged, {
      result: isPassed ? 'pass' : 'fail',
      rationale: isPassed ? pass : fail,
      turns: turn ? [turn.turn] : [],
      // Without a quotation, a verdict is unknown.
      quote: (chars + at) % 9 === 0 ? '' : (turn?.content.slice(0, 120) ?? ''),
    })
  }
  return judgement
}
