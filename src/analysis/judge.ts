import { randomBytes } from 'node:crypto'
import { jsonOf } from '../validation.ts'
import { contextTooSmall, ModelUnavailable, RequestRefused } from './chat-failures.ts'
import type { ChatAnswer, ChatMessage, ChatModel } from './chat-model.ts'
import { knowledgeChanged, readFindings } from './evidence.ts'
import { asksForGrounds, type Grounds, noGrounds } from './grounds.ts'
import { answerSchema, estimatedTokens, promptOf, type Transcript } from './prompt.ts'
import type { Findings, JudgedCriterion, RubricContent, Tokens } from './schemas.ts'

const answerTokensBase = 1_000
const answerTokensOfQuestion = 200
/** A shorter prompt says too little about how a server counts. */
const countedCharsMin = 2_000
/** How many objects of an answer are looked at. */
const objectsMax = 20
const problemsToldMax = 5

interface JudgeOptions {
  rubric: RubricContent
  transcript: Transcript
  /** What `grounded` criteria are checked against. */
  grounds?: Grounds
  model: Pick<ChatModel, 'ask'>
  /** How many tokens the prompt and its answer may have together. */
  contextTokens: number
  signal: AbortSignal
  /** A new random value for each request. */
  fence?: () => string
}

/** What came of a call, and what it took: the tokens that the server counted in all requests. */
export type Judgement = { tokens: Tokens; requests: number } & (
  | { state: 'done'; findings: Findings }
  | { state: 'skipped' | 'failed'; reason: string }
)

/**
 * Asks a model what a rubric asks about a call. Criteria of the kind `grounded` are unknown without asking where nothing
 * was found, or too much.
 * @throws ModelUnavailable, or the signal's reason
 */
export async function judge(options: JudgeOptions): Promise<Judgement> {
  const { rubric, grounds = noGrounds } = options
  const { passages, tools, hasSearched, hasChanged } = grounds
  if (!asksForGrounds(rubric)) return await ask({ ...options, grounds: noGrounds })
  // A search that found nothing is asked about, too: then nothing supports what the agent stated.
  const isBare = passages.length === 0 && tools.length === 0 && (hasChanged || !hasSearched)
  if (!isBare && fits({ ...options, grounds })) return await ask({ ...options, grounds })
  const rationale = isBare ? (hasChanged ? knowledgeChanged : 'no search was recorded') : tooLong
  const criteria = rubric.criteria.filter(({ kind }) => kind !== 'grounded')
  const judgement = await ask({ ...options, rubric: { ...rubric, criteria }, grounds: noGrounds })
  if (judgement.state !== 'done') return judgement
  const { findings } = judgement
  const judged = ({ id }: { id: string }): JudgedCriterion =>
    findings.criteria.find((one) => one.id === id) ?? {
      id,
      result: 'unknown',
      rationale,
      turns: [],
      quote: '',
      support: null,
    }
  return { ...judgement, findings: { ...findings, criteria: rubric.criteria.map(judged) } }
}

const tooLong = 'too long'
/** How the reason begins where the model's answers could not be read. */
export const noUsableAnswer = 'no usable answer'

function answerTokensOf({ criteria, fields }: RubricContent): number {
  return answerTokensBase + answerTokensOfQuestion * (criteria.length + fields.length)
}

type Grounded = JudgeOptions & { grounds: Grounds }

/** Whether the model can read it all at once. */
function fits({ rubric, transcript, grounds, contextTokens }: Grounded): boolean {
  const messages = promptOf({ rubric, transcript, grounds, fence: newFence(), problem: null })
  return estimatedTokens(messages) + answerTokensOf(rubric) <= contextTokens
}

function newFence(): string {
  return randomBytes(16).toString('hex')
}

async function ask(options: Grounded): Promise<Judgement> {
  const { rubric, transcript, grounds, fence = newFence } = options
  const usage = { tokens: { prompt: 0, completion: 0 }, requests: 0 }
  if (rubric.summary === null && rubric.criteria.length + rubric.fields.length === 0)
    return { state: 'done', findings: { summary: null, criteria: [], fields: [] }, ...usage }
  if (!fits(options)) return { state: 'skipped', reason: tooLong, ...usage }
  const request = asking(options, answerTokensOf(rubric), usage)
  let problem: string | null = null
  for (const isLast of [false, true]) {
    const answer = await request(promptOf({ rubric, transcript, grounds, fence: fence(), problem }))
    if (typeof answer === 'string') return { state: 'failed', reason: answer, ...usage }
    const findings = findingsIn(answer, options, isLast)
    if (typeof findings !== 'string') return { state: 'done', findings, ...usage }
    problem = findings
  }
  return { state: 'failed', reason: `${noUsableAnswer}: ${problem}`, ...usage }
}

/** Asks, and adds up what is used. The answer is a text where the server refused, or read only a part: the reason. */
function asking(
  { rubric, model, signal }: JudgeOptions,
  tokensMax: number,
  usage: { tokens: Tokens; requests: number },
) {
  let schema: ReturnType<typeof answerSchema> | null = answerSchema(rubric)
  return async function ask(messages: ChatMessage[]): Promise<ChatAnswer | string> {
    usage.requests++
    try {
      const answer = await model.ask({ messages, schema, tokensMax }, signal)
      usage.tokens.prompt += answer.tokens.prompt
      usage.tokens.completion += answer.tokens.completion
      return isOfPart(messages, answer.tokens.prompt) ? contextTooSmall : answer
    } catch (error) {
      if (error instanceof ModelUnavailable) throw Object.assign(error, usage)
      if (!(error instanceof RequestRefused)) throw error
      if (!error.isOfFormat || schema === null) return error.message
      // The form is in the prompt too, and the answer is checked in any case.
      schema = null
      return ask(messages)
    }
  }
}

/** Whether the server counted far fewer tokens than it was sent: Ollama drops what its context does not hold. */
function isOfPart(messages: ChatMessage[], tokens: number): boolean {
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0)
  return chars > countedCharsMin && tokens > 0 && tokens < chars / 4 / 2
}

/** The one object in an answer that has its form, or what is wrong: nothing of the answer is in that sentence. */
function findingsIn({ text, isCut }: ChatAnswer, options: Grounded, isLast: boolean): Findings | string {
  const { rubric, transcript, grounds } = options
  const readings = objectsIn(text).map((object) => readFindings(object, rubric, transcript, grounds))
  // What is still missing after a second request has no answer.
  const fitting = readings.filter(
    ({ problems, missing }) => problems.length === 0 && (isLast || missing.length === 0),
  )
  const [only, another] = fitting
  if (another) return 'it held more than one object'
  if (only) return only.findings
  if (isCut) return 'it was too long'
  const [reading] = readings
  if (!reading) return 'it held no JSON object'
  return [...reading.problems, ...reading.missing].slice(0, problemsToldMax).join(', ')
}

/** The JSON objects in a text that may hold more, such as prose or a code fence. */
function objectsIn(text: string): unknown[] {
  const objects: unknown[] = []
  let from = text.indexOf('{')
  while (from >= 0 && objects.length < objectsMax) {
    const end = objectEnd(text, from)
    const object = jsonOf(text.slice(from, end))
    if (object !== undefined) objects.push(object)
    from = text.indexOf('{', end)
  }
  return objects
}

/** Where the braces are closed that are opened at `from`; the end of the text if they are not. */
function objectEnd(text: string, from: number): number {
  // A text without an end is a mark too: looking for its end again from each quote within it would take long.
  const marks = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]/gs
  marks.lastIndex = from
  let depth = 0
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    if (mark[0] === '{') depth++
    else if (mark[0] === '}' && --depth === 0) return marks.lastIndex
  }
  return text.length
}
