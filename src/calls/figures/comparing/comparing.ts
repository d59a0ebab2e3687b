import { desc, eq } from 'drizzle-orm'
import type { Core } from '../../../core/core.ts'
import { projects, rubrics } from '../../../db/schema.ts'
import { type AppError, invalidRequest } from '../../../errors.ts'
import { escapeValue } from '../../../text/values.ts'
import { criterionPrefix, noValue } from '../../filters.ts'
import type { CallQuery } from '../../finding/call-query.ts'
import type { AskedQuestion, Figures } from '../figures.ts'
import { groupingOf } from '../filter-grouping.ts'
import { percentsOf } from '../measures.ts'
import type { Group } from '../question.ts'
import {
  type ComparedCalls,
  type ComparedFigure,
  type CompareRequest,
  readCompareRequest,
  toFigure,
} from './compare-request.ts'
import { zOf } from './intervals.ts'
import { type Comparison, comparisonsMax } from './schemas.ts'
import { compareFigure } from './verdict.ts'

const callsMax = 500_000
const criteriaMax = 5
const confidence = 0.95

/** All calls of a search, or those that have one value. */
interface CallGroup extends ComparedCalls {
  /** The value as its filter takes it, and as a pass names it. */
  key: string | null
  name: Group['names'][number] | undefined
  calls: number
  /** When the first one was created, and just after the last one; null without calls. */
  from: number | null
  to: number | null
}

const counted: AskedQuestion = { of: null, by: [], percents: [] }
const times: AskedQuestion = { of: { column: 'calls.created_at' }, by: [], percents: [] }

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
    const request = readCompareRequest(query)
    const figures = request.figures ?? (await this.#usualFigures(projectId))
    const { groups } = request
    const { a, others, by } = await (groups.by === null
      ? this.#twoGroups(projectId, groups)
      : this.#groupsOfValues(projectId, groups))
    // All intervals of the first figure hold together, and so do all those of the others.
    const [ofFirst, ofOthers] = [1, figures.length - 1].map(
      (each) => 1 - (1 - confidence) / (Math.max(1, others.length) * each),
    )
    const measured = figures.map((figure, at) => ({
      figure,
      level: (at === 0 ? ofFirst : ofOthers) ?? confidence,
    }))
    const questions: AskedQuestion[] = [
      { ...counted, by, from: a.from ?? 0, to: a.to ?? 0 },
      ...measured.map(({ figure: { of, show }, level }) => {
        return { of, by, percents: percentsOf(show), limitsZ: zOf(level) }
      }),
    ]
    const searches = [...new Set([a, ...others].map(({ search }) => search))]
    const answers = await Promise.all(
      searches.map((search) => this.#figures.askAll(projectId, search, questions)),
    )
    const groupsOf = ({ search, name }: CallGroup) =>
      answers[searches.indexOf(search)]?.map(({ groups }) => groups.find(({ names }) => names[0] === name)) ??
      []
    const [, ...ofA] = groupsOf(a)
    const toCalls = await this.#toCalls(projectId)
    return {
      a: toCalls(a),
      comparisons: others.map((other) => {
        const [within, ...ofB] = groupsOf(other)
        const overlap = a.calls && other.calls ? (within?.calls ?? 0) / other.calls : null
        const metrics = measured.map(({ figure, level }, at) =>
          compareFigure(figure, [ofA[at], ofB[at]], level),
        )
        return { key: other.key, b: toCalls(other), overlap, metrics }
      }),
    }
  }

  /** Two groups, of which no call may be in both. */
  async #twoGroups(projectId: number, { a, b, both }: Extract<CompareRequest['groups'], { by: null }>) {
    const [[ofA], [ofB], [shared]] = await Promise.all([
      this.#figures.askAll(projectId, a.search, [times]),
      this.#figures.askAll(projectId, b.search, [times]),
      this.#figures.askAll(projectId, both, [counted]),
    ])
    if (shared?.total) throw refused('b', `finds ${shared.total} of the calls that a finds`)
    return { a: groupOf(a, 'a', ofA?.groups[0]), others: [groupOf(b, 'b', ofB?.groups[0])], by: [] }
  }

  /** The calls that have one value, and those of each other value, the most frequent one first. */
  async #groupsOfValues(
    projectId: number,
    { by: name, against, all }: Exclude<CompareRequest['groups'], { by: null }>,
  ) {
    const by = [groupingOf(name)].filter((grouping) => grouping !== null)
    const [found, pairs] = await this.#figures.askAll(projectId, all.search, [
      { ...times, by },
      { ...counted, by: [...by, ...by] },
    ])
    if (!found || !pairs || found.isTooMany || pairs.isTooMany)
      throw refused('by', 'has too many different values')
    const groups = found.groups
      // No filter finds these.
      .filter(({ names: [value] }) => value !== '' && value !== noValue)
      .map((group) => {
        const key = String(group.names[0] ?? noValue)
        return { ...groupOf({ ...all, query: { ...all.query, [name]: escapeValue(key) } }, 'by', group), key }
      })
      .sort((one, other) => other.calls - one.calls || (one.key < other.key ? -1 : 1))
    const a = groups.find(({ key }) => key === against)
    if (!a) throw refused('against', `is the ${name} of no completed call that the filters find`)
    const others = groups.filter((group) => group !== a).slice(0, comparisonsMax)
    for (const { names, calls } of pairs.groups) {
      const other = others.find((group) => group.name === names[1])
      if (names[0] === a.name && other)
        throw refused('by', `finds ${calls} of the calls of ${a.key} among those of ${other.key}`)
    }
    return { a, others, by }
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

  /** @returns what writes a group as it is served */
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

/** @param field what names the group, for errors @throws invalid_request for too many calls */
function groupOf(all: ComparedCalls, field: string, group: Group | undefined): CallGroup {
  const { calls = 0, names: [name] = [] } = group ?? {}
  if (calls > callsMax) throw refused(field, `finds more than ${callsMax} calls`)
  const [from, to] = group ? [group.least, group.most + 1] : [null, null]
  return { ...all, key: null, name, calls, from, to }
}
