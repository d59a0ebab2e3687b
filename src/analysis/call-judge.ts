import { createHash } from 'node:crypto'
import type { Calls } from '../calls/calls.ts'
import type { Core } from '../core/core.ts'
import type { RedactionCounts } from '../redaction/kinds.ts'
import { type RedactText, redactor } from '../redaction/settings.ts'
import { TimeSlices, type Work } from '../threads/time-slices.ts'
import { type DueCall, noRun } from './analysis-queue.ts'
import {
  asksForGrounds,
  type Grounds,
  groundsOf,
  noGrounds,
  type SearchOfCall,
  type ToolResult,
} from './grounds.ts'
import type { Judgement } from './judge.ts'
import type { Rubrics } from './rubrics.ts'
import type { Findings, Rubric, RubricContent } from './schemas.ts'

interface Turn {
  role: 'user' | 'assistant'
  content: string
}

/** A call as this room needs it. */
export interface ReadCall {
  seq: number
  id: string
  status: 'live' | 'completed'
  duration: number
  endedReason: string | null
  source: string | null
  agentIds: readonly string[]
  /** Null if it is too long to be read. */
  transcript: readonly Turn[] | null
  toolResults: readonly ToolResult[]
  analysis: { brief: { state: string; version: number | null } } | null
}

/** What to ask about a call. */
export interface Question {
  call: ReadCall
  rubric: Rubric
  /** The budget of the rubric in force. */
  tokensPerMonth: number | null
  /** Why the model is not asked; null if it is. */
  skippedFor: string | null
}

/** A call with what came of it. */
export interface JudgedCall extends Pick<Question, 'call' | 'rubric'> {
  judgement: Judgement
  redacted: RedactionCounts
}

/** Asks a model about a call. @throws ModelUnavailable, or the signal's reason */
export type AskModel = (
  projectId: number,
  asked: { rubric: RubricContent; transcript: readonly Turn[]; grounds: Grounds },
  signal: AbortSignal,
) => Promise<Judgement>

/** What a call's agent searched for and found, in its order. */
export type SearchesOfCall = (projectId: number, callId: string) => Promise<{ data: readonly SearchOfCall[] }>

interface CallJudgeParts {
  rubrics: Rubrics
  calls: Pick<Calls, 'forAnalysis'>
  searchesOfCall: SearchesOfCall
  /** Null if no model is configured. */
  askModel: AskModel | null
  /** A longer document is in no case what the model can read at once. */
  charsMax: number
}

/** Decides whether the model is asked about a call, asks it, and redacts what it says. */
export class CallJudge {
  readonly #parts: Core & CallJudgeParts
  readonly #slices = new TimeSlices()

  constructor(core: Core, parts: CallJudgeParts) {
    this.#parts = { ...core, ...parts }
  }

  /** What to ask about a call of the queue; null for nothing, since it is done, live or deleted. */
  async question({ projectId, seq, version, runId, isAgain }: DueCall): Promise<Question | null> {
    const { rubrics } = this.#parts
    const inForce = await rubrics.find(projectId)
    const rubric = version === null ? inForce : await rubrics.find(projectId, version)
    const call = await this.read(projectId, seq)
    if (!inForce || !rubric || call?.status !== 'completed') return null
    const isDone = call.analysis?.brief.state === 'done' && call.analysis.brief.version === rubric.version
    if (runId !== noRun && isDone && !isAgain) return null
    const { tokensPerMonth } = inForce
    // It would hold up the smaller ones for ever. A budget of 0 is one that somebody means to raise.
    const isBeyond = estimateOf({ call, rubric }) > (tokensPerMonth || Number.POSITIVE_INFINITY)
    const reason = skippedFor(call, rubric) ?? (isBeyond ? 'budget' : null)
    return { call, rubric, tokensPerMonth, skippedFor: reason }
  }

  /** The call; null if it was deleted. */
  read(projectId: number, seq: number): Promise<ReadCall | null> {
    const { calls, charsMax } = this.#parts
    return calls.forAnalysis(projectId, seq, charsMax)
  }

  /** @throws ModelUnavailable */
  async ask(projectId: number, { call, rubric }: Question, signal: AbortSignal): Promise<JudgedCall> {
    const { askModel, settingsOf, searchesOfCall } = this.#parts
    if (!askModel) throw new Error('Nothing is analyzed without a model')
    const redact = await redactor(await settingsOf(projectId))
    // Redaction may have been switched on after the call was stored.
    const transcript = await this.#slices.run(redactTurns(call.transcript ?? [], redact))
    const grounds = asksForGrounds(rubric)
      ? groundsOf(
          (await searchesOfCall(projectId, call.id)).data,
          await this.#slices.run(redactResults(call.toolResults, redact)),
        )
      : noGrounds
    const judgement = await askModel(projectId, { rubric, transcript, grounds }, signal)
    const counts: RedactionCounts = {}
    if (judgement.state !== 'done') return { call, rubric, judgement, redacted: counts }
    const findings = await this.#slices.run(redactFindings(judgement.findings, redact, counts))
    return { call, rubric, judgement: { ...judgement, findings }, redacted: counts }
  }
}

const charsPerToken = 4
/** What the rules and an answer take. */
const tokensPerCall = 800
/** What a call's searches find, about. */
const tokensOfGrounds = 1_500

/** Returns about how many tokens a call takes with its questions. */
export function estimateOf({ call, rubric }: Pick<Question, 'call' | 'rubric'>): number {
  const chars = (call.transcript ?? []).reduce((sum, { content }) => sum + content.length, 0)
  return estimate(chars, rubric)
}

/** @param chars of the transcript */
export function estimate(chars: number, rubric: RubricContent): number {
  const beside = tokensPerCall + (asksForGrounds(rubric) ? tokensOfGrounds : 0)
  return Math.ceil((chars + JSON.stringify(rubric).length) / charsPerToken) + beside
}

/** Why a rubric leaves a call out; null if it does not. */
function skippedFor(call: ReadCall, { when, share }: Rubric): string | null {
  const userTurns = (call.transcript ?? []).filter(({ role }) => role === 'user').length
  const isMeant =
    userTurns >= (when.minUserTurns ?? 0) &&
    call.duration >= (when.minDuration ?? 0) &&
    isAmong(when.agentIds, call.agentIds) &&
    isAmong(when.sources, [call.source]) &&
    isAmong(when.endedReasons, [call.endedReason])
  const reason = unreadable(call) ?? (isMeant ? null : 'when')
  return reason ?? (isInShare(call.id, share) ? null : 'share')
}

/** Why no model can be asked about a call; null if one can. */
export function unreadable({ transcript }: ReadCall): string | null {
  if (transcript === null) return 'too long'
  return transcript.length === 0 ? 'no transcript' : null
}

function isAmong(allowed: readonly string[] | undefined, values: readonly (string | null)[]): boolean {
  return allowed === undefined || values.some((value) => value !== null && allowed.includes(value))
}

/** The same calls each time, and with a larger share these and others. */
function isInShare(id: string, share: number): boolean {
  return createHash('sha256').update(id).digest().readUInt32BE() < share * 2 ** 32
}

function* redactTurns(turns: readonly Turn[], redact: RedactText): Work<Turn[]> {
  const redactedTurns: Turn[] = []
  for (const { role, content } of turns)
    redactedTurns.push({ role, content: yield* redact(content, 'content', {}) })
  return redactedTurns
}

function* redactResults(results: readonly ToolResult[], redact: RedactText): Work<ToolResult[]> {
  const redacted: ToolResult[] = []
  for (const { name, text } of results) redacted.push({ name, text: yield* redact(text, 'content', {}) })
  return redacted
}

function* redactFindings(findings: Findings, redact: RedactText, counts: RedactionCounts): Work<Findings> {
  const text = (value: string, label: string) => redact(value, label, counts)
  const criteria: Findings['criteria'] = []
  for (const one of findings.criteria) {
    const [rationale, quote] = [yield* text(one.rationale, 'rationale'), yield* text(one.quote, 'quote')]
    const support = one.support && {
      ...one.support,
      quote: yield* text(one.support.quote, 'quote'),
    }
    criteria.push({ ...one, rationale, quote, support })
  }
  const fields: Findings['fields'] = []
  for (const one of findings.fields) {
    const value = typeof one.value === 'string' ? yield* text(one.value, one.key) : one.value
    fields.push({ ...one, value, quote: yield* text(one.quote, 'quote') })
  }
  const summary = findings.summary === null ? null : yield* text(findings.summary, 'summary')
  return { summary, criteria, fields }
}
