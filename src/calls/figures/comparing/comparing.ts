import { desc, eq } from 'drizzle-orm'
import type { Core } from '../../../core/core.ts'
import { projects, rubrics } from '../../../db/schema.ts'
import { type AppError, invalidRequest } from '../../../errors.ts'
import { escapeValue } from '../../../text/values.ts'
import { criterionPrefix, noValue } from '../../filters.ts'
import type { CallQuery, CallSearch } from '../../finding/call-query.ts'
import type { Period } from '../../finding/period.ts'
import type { AskedQuestion, Figures } from '../figures.ts'
import { groupingOf } from '../filter-grouping.ts'
import { percentsOf } from '../measures.ts'
import type { Answer, Group, Grouping } from '../question.ts'
import {
  type ComparedCalls,
  type ComparedFigure,
  type CompareRequest,
  readCompareRequest,
  toFigure,
} from './compare-request.ts'
import { type Limits, levelOf } from './intervals.ts'
import { type Comparison, comparisonsMax } from './schemas.ts'
import { compareFigure } from './verdict.ts'

const callsMax = 500_000
const criteriaMax = 5
const confidence = 0.95

/** Calls that are compared: all of a search, or those of one value. */
interface CallGroup extends ComparedCalls {
  /** The value as its filter takes it; null for all. */
  key: string | null
  calls: number
  /** When the first one was created, and just after the last one; null without calls. */
  from: number | null
  to: number | null
  /** What a pass found of each figure. */
  measured: (Group | undefined)[]
  /** How many were created between the first and the last call of a. */
  withinA: number
}

const counted: AskedQuestion = { of: null, by: [], percents: [] }
const times: AskedQuestion = { of: { whole: 'calls.created_at' }, by: [], percents: [] }

/** Compares figures of groups of calls. */
export class Comparing {
  readonly #core: Core
  readonly #figures: Pick<Figures, 'askAll'>

  constructor(core: Core, { figures }: { figures: Pick<Figures, 'askAll'> }) {
    this.#core = core
    this.#figures = figures
  }

  /**
   * @param query filters, with and without `a.` and `b.`, and `of`, `by` and `against`
   * @throws invalid_request for what cannot be read, too many calls, and groups that share calls
   */
  async read(projectId: number, query: CallQuery): Promise<Comparison> {
    const { figures: named, groups } = readCompareRequest(query)
    const figures = named ?? (await this.#usualFigures(projectId))
    const { a, others, count } = await (groups.by === null
      ? this.#twoGroups(projectId, groups, figures)
      : this.#groupsOfValues(projectId, groups, figures))
    const toCalls = await this.#toCalls(projectId)
    return {
      a: toCalls(a),
      comparisons: others.map((b) => ({
        key: b.key,
        b: toCalls(b),
        overlap: a.calls > 0 && b.calls > 0 ? b.withinA / b.calls : null,
        metrics: figures.map((figure, at) =>
          compareFigure(figure, [a.measured[at], b.measured[at]], levelOf(limitsOf(figures, at), count)),
        ),
      })),
    }
  }

  /** Two groups, of which no call may be in both. */
  async #twoGroups(
    projectId: number,
    { a, b, both }: Extract<CompareRequest['groups'], { by: null }>,
    figures: readonly ComparedFigure[],
  ) {
    const questions = questionsOf(figures, [])
    const ofA = await this.#figures.askAll(projectId, a.search, [times, ...questions])
    const groupA = groupOf(a, 'a', ofA)
    // No other call can be in both, nor within the time of a.
    const time = { from: groupA.from ?? 0, to: groupA.to ?? 0 }
    const [[within, ...ofB], shared] = await Promise.all([
      this.#figures.askAll(projectId, b.search, [{ ...counted, ...time }, times, ...questions]),
      both && this.#figures.askAll(projectId, narrowed(both, time), [counted]),
    ])
    if (shared?.[0]?.total) throw refused('b', `finds ${shared[0].total} of the calls that a finds`)
    return { a: groupA, others: [{ ...groupOf(b, 'b', ofB), withinA: within?.total ?? 0 }], count: 2 }
  }

  /** The calls that have one value, and those of each other value, the most frequent one first. */
  async #groupsOfValues(
    projectId: number,
    { by: name, against, all }: Exclude<CompareRequest['groups'], { by: null }>,
    figures: readonly ComparedFigure[],
  ) {
    const by = [groupingOf(name)].filter((grouping) => grouping !== null)
    // Agents hand calls over; a call has one version and one source.
    const pairs = name === 'agentId' ? [{ ...counted, by: [...by, ...by] }] : []
    const within = against === noValue ? null : against
    const [found, ...answers] = await this.#figures.askAll(projectId, all.search, [
      { ...times, by, within },
      ...questionsOf(figures, by),
      ...pairs,
    ])
    const shared = answers[figures.length]
    if (!found || found.isTooMany || shared?.isTooMany) throw refused('by', 'has too many different values')
    const groups = found.groups
      .map((group) => {
        const [name = null] = group.names
        const own = ({ groups }: Answer) => groups.find(({ names }) => names[0] === name)
        const measured = answers.slice(0, figures.length).map(own)
        const { within: withinA = 0 } = group
        return { ...groupOf(all, 'by', [{ ...found, groups: [group] }]), measured, withinA, name }
      })
      // No filter finds these.
      .filter((group) => group.name !== '' && group.name !== noValue)
      .map((group) => ({ ...group, key: String(group.name ?? noValue) }))
      .map((group) => ({ ...group, query: { ...all.query, [name]: escapeValue(group.key) } }))
      .sort((one, other) => other.calls - one.calls || (one.key < other.key ? -1 : 1))
    const a = groups.find(({ key }) => key === against)
    if (!a) throw refused('against', `is the ${name} of no completed call that the filters find`)
    const others = groups.filter((group) => group !== a).slice(0, comparisonsMax)
    for (const { names, calls } of shared?.groups ?? []) {
      const other = others.find((group) => group.name === names[1])
      if (names[0] === a.name && other)
        throw refused('by', `finds ${calls} of the calls of ${a.key} among those of ${other.key}`)
    }
    return { a, others, count: found.groups.length }
  }

  /** The success, what the rubric in force asks, how fast and how expensive. */
  async #usualFigures(projectId: number): Promise<ComparedFigure[]> {
    const [rubric] = await this.#core
      .store(projectId)
      .read.select({ content: rubrics.content })
      .from(rubrics)
      .where(eq(rubrics.projectId, projectId))
      .orderBy(desc(rubrics.version))
      .limit(1)
    // What is stored was checked: see src/analysis/rubrics.ts.
    const { criteria = [] } = (rubric?.content ?? {}) as { criteria?: { id: string }[] }
    const ofCriteria = criteria.slice(0, criteriaMax).map(({ id }) => criterionPrefix + id)
    return ['success', ...ofCriteria, 'latencyMs.p50', 'latencyMs.p95', 'costUsd.avg']
      .map(toFigure)
      .filter((figure) => typeof figure !== 'string')
  }

  /** @returns a function that turns a group into what is served */
  async #toCalls(projectId: number) {
    const [project] = await this.#core
      .store(projectId)
      .read.select({ id: projects.publicId })
      .from(projects)
      .where(eq(projects.id, projectId))
    const timeOf = (at: number | null) => (at === null ? undefined : new Date(at).toISOString())
    const list = `${this.#core.site.address}/console/p/${project?.id}/calls`
    return ({ query: asked, calls, ...period }: CallGroup): Comparison['a'] => {
      const [from, to] = [timeOf(period.from), timeOf(period.to)]
      const { status, from: askedFrom, to: askedTo, ...filters } = asked
      const named = { ...filters, status, from: from ?? askedFrom, to: to ?? askedTo }
      const query = new URLSearchParams(
        Object.entries(named).flatMap(([name, texts]) =>
          [texts ?? []].flat().map((text): [string, string] => [name, text]),
        ),
      ).toString()
      return { query, url: `${list}?${query}`, calls, from: from ?? null, to: to ?? null }
    }
  }
}

function refused(field: string, message: string): AppError {
  return invalidRequest([{ field, message }])
}

/** All intervals of the first figure hold together, and so do all those of the others. */
function limitsOf(figures: readonly ComparedFigure[], at: number): Limits {
  return { confidence, intervals: at === 0 ? 1 : figures.length - 1, comparisonsMax }
}

function questionsOf(figures: readonly ComparedFigure[], by: readonly Grouping[]): AskedQuestion[] {
  return figures.map(({ of, show }, at) => {
    return { of, by, percents: percentsOf(show), limits: limitsOf(figures, at) }
  })
}

/**
 * @param field what names the group, for errors
 * @param answers to when its calls were created, and to each figure
 * @throws invalid_request for too many calls
 */
function groupOf(all: ComparedCalls, field: string, answers: readonly Answer[]): CallGroup {
  const [group, ...measured] = answers.map(({ groups }) => groups[0])
  const calls = group?.calls ?? 0
  if (calls > callsMax) throw refused(field, `finds more than ${callsMax} calls`)
  const [from, to] = group ? [group.least, group.most + 1] : [null, null]
  return { ...all, key: null, calls, from, to, measured, withinA: 0 }
}

function narrowed(search: CallSearch, { from, to }: Period): CallSearch {
  return { ...search, from: Math.max(search.from ?? 0, from), to: Math.min(search.to ?? to, to) }
}
