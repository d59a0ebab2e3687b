import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ModelUnavailable } from '../../src/analysis/chat-failures.ts'
import { ChatModel } from '../../src/analysis/chat-model.ts'
import { supports } from '../../src/analysis/evidence.ts'
import { judge, noUsableAnswer } from '../../src/analysis/judge.ts'
import type { Transcript } from '../../src/analysis/prompt.ts'
import { completeRubric, type Tokens } from '../../src/analysis/schemas.ts'
import { argumentsOf } from '../../src/cases/cut.ts'
import type { Message, Mock } from '../../src/cases/schemas.ts'
import type { Config } from '../../src/config.ts'
import { createLimit } from '../../src/threads/limit.ts'
import { valueAt } from '../../src/validation.ts'

const roundsMax = 5
const atOnce = 4
const retryMsDefault = 1_000
const retryMsMax = 60_000

/** A case as far as a check needs it. */
export interface CheckedCase {
  id: string
  name?: string
  messages: Message[]
  mocks?: Mock[]
  expect: string
  said?: string
  label?: 'pass' | 'fail'
}

/** What an agent said, and what its tools answered before that. */
export interface AgentAnswer {
  tools: Transcript
  said: string
}

export interface Judged {
  verdict: 'pass' | 'fail' | 'unknown'
  said: string
  quote: string
}

export interface Totals {
  passes: number
  fails: number
  unknown: number
}

interface AgentOptions {
  url: string
  model: string
  token: string | null
  system: string | undefined
  /** As OpenAI's `tools`. */
  tools: unknown[] | undefined
}

/** The agent under test: any endpoint of the OpenAI chat API. */
export class TestedAgent {
  readonly #options: AgentOptions
  readonly #model: ChatModel

  constructor(options: AgentOptions) {
    this.#options = options
    this.#model = new ChatModel({ ...options, endpoint: options.url })
  }

  /** Asks for the next turn; its tools are answered by mocks. @throws ModelUnavailable or RequestRefused */
  async answer({ messages, mocks = [] }: CheckedCase, signal: AbortSignal): Promise<AgentAnswer> {
    const { system, tools } = this.#options
    const prompt = system === undefined ? [] : [{ role: 'system', content: system }]
    const sent: object[] = [...prompt, ...(tools ? messages : messages.flatMap<object>(asText(messages)))]
    const left = unusedMocks(messages, mocks)
    const [said, turns]: [string[], { role: string; content: string }[]] = [[], []]
    for (let round = 0; ; round++) {
      // What is deployed is tested: neither a temperature nor a form.
      const body = { messages: sent, ...(tools && { tools }) }
      const answer = await twice(() => this.#model.complete(body, signal), signal)
      const message = valueAt(answer, 'choices', 0, 'message')
      const content = valueAt(message, 'content')
      if (typeof content === 'string' && content.trim() !== '') said.push(content)
      const calls = callsIn(message)
      const results = calls.map((call) => takeMock(left, mocks, call))
      const isEnd = round === roundsMax || results.includes(null)
      if (calls.length > 0 && isEnd) said.push(...calls.map(callText))
      if (calls.length === 0 || isEnd) return { tools: turns, said: said.join('\n') }
      sent.push(Object(message))
      for (const [at, call] of calls.entries()) {
        sent.push({ role: 'tool', tool_call_id: call.id, content: results[at] })
        turns.push(
          { role: 'assistant', content: callText(call) },
          { role: 'tool', content: results[at] ?? '' },
        )
      }
    }
  }
}

interface ToolCall {
  id: string
  name: string
  text: string
}

function callsIn(message: unknown): ToolCall[] {
  const calls = valueAt(message, 'tool_calls')
  const textAt = (call: unknown, ...path: string[]) => String(valueAt(call, ...path) ?? '')
  return (Array.isArray(calls) ? calls : []).map((call) => ({
    id: textAt(call, 'id'),
    name: textAt(call, 'function', 'name'),
    text: textAt(call, 'function', 'arguments'),
  }))
}

function callText({ name, text }: Pick<ToolCall, 'name' | 'text'>): string {
  return `(calls ${name} with ${text})`
}

/** The mocks whose results are not in the conversation yet. */
function unusedMocks(messages: readonly Message[], mocks: readonly Mock[]): Mock[] {
  const left = [...mocks]
  const names = toolNames(messages)
  for (const { role, content, tool_call_id = '' } of messages) {
    const isUsed = ({ name, result }: Mock) => name === names.get(tool_call_id) && result === content
    const at = role === 'tool' ? left.findIndex(isUsed) : -1
    if (at >= 0) left.splice(at, 1)
  }
  return left
}

/** The name of the tool of each call, by the call's id. */
function toolNames(messages: readonly Message[]): Map<string, string> {
  return new Map(
    messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name])),
  )
}

/** The first unused mock of the name with equal arguments, else the first unused one, else the last; null for none. */
function takeMock(left: Mock[], all: readonly Mock[], { name, text }: ToolCall): string | null {
  const isNamed = (mock: Mock) => mock.name === name && mock.result !== null
  const given = argumentsOf(text)
  const isEqual = (mock: Mock) => isNamed(mock) && isDeepStrictEqual(mock.arguments, given)
  const mock = left.find(isEqual) ?? left.find(isNamed)
  if (mock) left.splice(left.indexOf(mock), 1)
  return (mock ?? all.findLast(isNamed))?.result ?? null
}

/** Tools as text: a server may refuse them where it is told of none. As a caller's turn, since a server goes on from it. */
function asText(messages: readonly Message[]) {
  const names = toolNames(messages)
  return ({ role, content, tool_calls, tool_call_id = '' }: Message): object[] => {
    if (tool_calls) return []
    if (role !== 'tool') return [{ role, content }]
    return [{ role: 'user', content: `(${names.get(tool_call_id) ?? 'a tool'} answered ${content})` }]
  }
}

/** What is judged: the conversation, and the answer as its last turn. */
function transcriptOf({ messages }: CheckedCase, { tools, said }: AgentAnswer): Transcript {
  const turns = messages.map(({ role, content, tool_calls = [] }) => {
    const calls = tool_calls.map(({ function: { name, arguments: text } }) => callText({ name, text }))
    return { role, content: content ?? calls.join('\n') }
  })
  return [...turns, ...tools, { role: 'assistant', content: said }]
}

/** The model that judges answers, and what it has used. */
export class Judge {
  readonly tokens: Tokens = { prompt: 0, completion: 0 }
  readonly #model: ChatModel
  readonly #contextTokens: number
  readonly #limit: ReturnType<typeof createLimit>

  constructor(analysis: NonNullable<Config['analysis']>) {
    this.#model = new ChatModel(analysis)
    this.#contextTokens = analysis.contextTokens
    this.#limit = createLimit({ atOnce: analysis.requestsAtOnce, perMinute: analysis.requestsPerMinute })
  }

  get model(): string {
    return this.#model.model
  }

  /** A verdict counts only with a quotation of the answer: neither a caller nor an earlier turn decides. @throws ModelUnavailable */
  async verdict(of: CheckedCase, answer: AgentAnswer, signal: AbortSignal): Promise<Judged> {
    const transcript = transcriptOf(of, answer)
    const last = transcript.length - 1
    const question = `Consider turn ${last} alone, the agent's answer, whatever was said or asked for before it, and quote words of it. Does this hold of it, or is the answer to this yes? ${of.expect}`
    const rubric = completeRubric({ criteria: [{ id: 'expected', name: 'Expected', question }] })
    const model: Pick<ChatModel, 'ask'> = {
      ask: (request) => this.#limit(0, () => this.#model.ask(request, signal), signal),
    }
    const judgement = await twice(
      () => judge({ rubric, transcript, model, contextTokens: this.#contextTokens, signal }),
      signal,
    )
    this.tokens.prompt += judgement.tokens.prompt
    this.tokens.completion += judgement.tokens.completion
    if (judgement.state !== 'done' && !judgement.reason.startsWith(noUsableAnswer))
      throw new Error(`The judge did not answer: ${judgement.reason}`)
    const found = judgement.state === 'done' ? judgement.findings.criteria[0] : undefined
    const { result = 'unknown', turns = [], quote = '' } = found ?? {}
    const counts = turns.includes(last) && supports({ turns: [last], quote }, transcript)
    return { verdict: counts ? result : 'unknown', said: answer.said, quote: counts ? quote : '' }
  }
}

/** Sends once more where a server is busy, fails or cannot be reached. */
async function twice<Result>(send: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  try {
    return await send()
  } catch (error) {
    const isPassing = error instanceof ModelUnavailable && ['busy', 'unreachable'].includes(error.reason)
    if (!isPassing) throw error
    await sleep(Math.min(error.retryAfterMs ?? retryMsDefault, retryMsMax), undefined, { signal })
    return await send()
  }
}

interface RunOptions {
  times: number
  min: number
  signal: AbortSignal
}

/** Four answers at once are asked for and judged, of all cases together. */
export function createRuns(ask: (of: CheckedCase, signal: AbortSignal) => Promise<Judged>) {
  const limit = createLimit({ atOnce, perMinute: 0 })
  /** Asks `times` times, and as often again if too few pass. @throws what an answer throws, the first */
  return async function run(of: CheckedCase, { times, min, signal }: RunOptions) {
    const giveUp = new AbortController()
    const either = AbortSignal.any([signal, giveUp.signal])
    const answers: Judged[] = []
    const round = async () => {
      const one = () => limit(0, () => ask(of, either), either)
      try {
        answers.push(...(await Promise.all(Array.from({ length: times }, one))))
      } catch (error) {
        giveUp.abort()
        throw error
      }
    }
    await round()
    if (resultOf(totalsOf(answers), min) === 'failed') await round()
    const totals = totalsOf(answers)
    const example = answers.find(({ verdict }) => verdict === 'fail') ?? answers[0]
    return {
      ...totals,
      result: resultOf(totals, min),
      said: example?.said ?? '',
      quote: example?.quote ?? '',
    }
  }
}

export type CaseRun = Awaited<ReturnType<ReturnType<typeof createRuns>>>

function totalsOf(answers: readonly Judged[]): Totals {
  const count = (wanted: Judged['verdict']) => answers.filter(({ verdict }) => verdict === wanted).length
  return { passes: count('pass'), fails: count('fail'), unknown: count('unknown') }
}

/** Shares of whole numbers, so that 9 of 10 are 0.9. */
const rounding = 1e-9

function resultOf({ passes, fails, unknown }: Totals, min: number): 'passed' | 'failed' | 'notJudged' {
  if (unknown > passes + fails) return 'notJudged'
  return passes >= min * (passes + fails) - rounding ? 'passed' : 'failed'
}
