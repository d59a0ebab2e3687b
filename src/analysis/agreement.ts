import { sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { evaluationOf } from './evaluation.ts'
import type { Rubrics } from './rubrics.ts'
import type { Agreement, Rubric, Verdict } from './schemas.ts'

const callsPerSlice = 500
const disagreementsMax = 500
/** How many of the newest calls are looked through for those to review next. */
const lookedAtMax = 2_000
const nextMax = 50

interface AgreementsParts {
  rubrics: Rubrics
}

/** What a person and the analysis say of a call: verdicts by criterion, as JSON. */
const comparedColumns = {
  seq: sql<number>`seq`,
  id: sql<string>`id`,
  evaluation: sql<string | null>`evaluation`,
  ruled: sql<string | null>`ruled`,
  verdicts: sql<string>`verdicts`,
}

/** A call that tells most when a person reviews it, and how many of its verdicts are of each kind. */
const columnsToReview = {
  id: sql<string>`id`,
  unknown: sql<number>`unknown`,
  passed: sql<number>`passed`,
  failed: sql<number>`failed`,
}

/** How far people and the analysis agree. */
export class Agreements {
  readonly #parts: Core & AgreementsParts

  constructor(core: Core, parts: AgreementsParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Over the calls that people reviewed and that this version has analyzed. @param version by default the one in force. @throws not_found */
  async of(projectId: number, version?: number): Promise<Agreement> {
    const rubric = await this.#parts.rubrics.get(projectId, version)
    const whole = new Comparison('success', 'fail')
    const criteria = rubric.criteria.map(({ id }) => ({ id, comparison: new Comparison('pass', 'fail') }))
    for await (const call of this.#reviewed(projectId, rubric)) {
      const verdicts: Record<string, Verdict> = JSON.parse(call.verdicts)
      const model = evaluationOf(
        rubric,
        Object.entries(verdicts).map(([id, result]) => ({ id, result })),
      )
      whole.add(call.id, call.evaluation, model)
      const ruled: Record<string, string> = JSON.parse(call.ruled ?? '{}')
      for (const { id, comparison } of criteria) comparison.add(call.id, ruled[id], verdicts[id])
    }
    return {
      version: rubric.version,
      ...whole.figures(),
      criteria: criteria.map(({ id, comparison }) => ({ id, ...comparison.figures() })),
    }
  }

  /**
   * Of the newest analyzed calls that nobody has reviewed, those with most unknown verdicts, then with both passed and
   * failed ones, then those of the agents and reasons that were reviewed least.
   */
  async next(projectId: number) {
    const { readForConsole } = this.#parts.store(projectId)
    return await readForConsole.select(columnsToReview).from(sql`(
      with newest as materialized (
        select seq, id, agent_id, ended_reason, coalesce(review ->> '$.reviewed', 0) as reviewed from calls
        where project_id = ${projectId} order by created_at desc limit ${lookedAtMax}),
      agents as (select agent_id, sum(reviewed) as reviewed from newest group by agent_id),
      reasons as (select ended_reason, sum(reviewed) as reviewed from newest group by ended_reason),
      judged as (
        select newest.*, (select count(*) from json_each(analysis, '$.brief.criteria') where value = 'unknown') as unknown,
          (select count(*) from json_each(analysis, '$.brief.criteria') where value = 'pass') as passed,
          (select count(*) from json_each(analysis, '$.brief.criteria') where value = 'fail') as failed
        from newest join call_details using (seq)
        where not reviewed and analysis ->> '$.brief.state' = 'done')
      select id, unknown, passed, failed from judged
        left join agents on agents.agent_id is judged.agent_id
        left join reasons on reasons.ended_reason is judged.ended_reason
      order by unknown desc, passed > 0 and failed > 0 desc, agents.reviewed + reasons.reviewed, seq desc limit ${nextMax})`)
  }

  async *#reviewed(projectId: number, { version }: Rubric) {
    const { readInBackground } = this.#parts.store(projectId)
    for (let last = 0; ; ) {
      const rows = await readInBackground.select(comparedColumns).from(sql`(
        select calls.seq as seq, id, review ->> '$.evaluation' as evaluation, review -> '$.criteria' as ruled,
          analysis -> '$.brief.criteria' as verdicts
        from calls join call_details using (seq)
        where project_id = ${projectId} and calls.seq > ${last} and review is not null
          and analysis ->> '$.brief.state' = 'done' and analysis ->> '$.brief.version' = ${version}
        order by calls.seq limit ${callsPerSlice})`)
      yield* rows
      const end = rows.at(-1)
      if (!end || rows.length < callsPerSlice) return
      last = end.seq
    }
  }
}

/** Two raters' answers to a question with two answers, counted where both gave one of them. */
export class Comparison {
  readonly #yes: string
  readonly #no: string
  /** How often, by the person's and the model's answer. */
  #both = { yes: 0, no: 0, onlyPerson: 0, onlyModel: 0 }
  readonly #disagreements: Agreement['disagreements'] = []

  constructor(yes: string, no: string) {
    this.#yes = yes
    this.#no = no
  }

  /** Counts a call on which both have answered. */
  add(id: string, person: string | null | undefined, model: string | null | undefined): void {
    const isAnswer = (text: typeof person) => text === this.#yes || text === this.#no
    if (!person || !model || !isAnswer(person) || !isAnswer(model)) return
    if (person === model) {
      this.#both[person === this.#yes ? 'yes' : 'no']++
      return
    }
    this.#both[person === this.#yes ? 'onlyPerson' : 'onlyModel']++
    if (this.#disagreements.length < disagreementsMax) this.#disagreements.push({ id, person, model })
  }

  /** Cohen's kappa: https://en.wikipedia.org/wiki/Cohen%27s_kappa. `baseRate` is the person's share of yes. */
  figures() {
    const { yes, no, onlyPerson, onlyModel } = this.#both
    const calls = yes + no + onlyPerson + onlyModel
    const agreed = yes + no
    const disagreements = this.#disagreements
    if (calls === 0) return { calls, agreed, accuracy: null, kappa: null, baseRate: null, disagreements }
    const accuracy = agreed / calls
    const baseRate = (yes + onlyPerson) / calls
    const modelRate = (yes + onlyModel) / calls
    const byChance = baseRate * modelRate + (1 - baseRate) * (1 - modelRate)
    const kappa = byChance === 1 ? null : (accuracy - byChance) / (1 - byChance)
    return { calls, agreed, accuracy, kappa, baseRate, disagreements }
  }
}
