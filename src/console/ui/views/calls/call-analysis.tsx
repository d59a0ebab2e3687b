import { Button, Skeleton } from '@mantine/core'
import { IconCornerDownRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { Analysis as AnalysisOf, JudgedCriterion } from '../../../../analysis/schemas.ts'
import type { Call, Review } from '../../../../calls/schemas.ts'
import { counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject, useRefusal } from '../../session.ts'
import { callAnalysisQuery, rubricQuery } from '../analysis/analysis-queries.ts'
import { stateWords, valueWords } from '../analysis/analysis-words.ts'
import { Verdict } from '../analysis/verdict.tsx'
import { Analysis } from './analysis.tsx'
import classes from './call-analysis.module.css'
import { useReview } from './review-queries.ts'
import { useKeys } from './use-keys.ts'

interface CallAnalysisProps {
  call: Call
  review: Review | null
  /** Shows a quotation of one of these turns in the transcript. */
  onQuote: (turns: readonly number[], quote: string) => void
}

/** What the model and people say of a call, criterion by criterion, and all values of its analysis. */
export function CallAnalysis({ call, review, onQuote }: CallAnalysisProps) {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(callAnalysisQuery(project, call.id))
  if (error && !data)
    return <Problem title="The analysis could not be loaded" error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={240} />
  const { state, version, fields } = data
  const isAbsent = state === 'none' && version === null
  return (
    <>
      {!isAbsent && <StateLine analysis={data} />}
      <Criteria id={call.id} analysis={data} review={review} onQuote={onQuote} />
      {fields.length > 0 && (
        <section>
          <h3 className={classes.title}>Fields</h3>
          <dl className={classes.fields}>
            {fields.map(({ key, value, turns, quote }) => (
              <div key={key}>
                <dt>
                  <Mono>{key}</Mono>
                </dt>
                <dd>
                  <span dir="auto" className={value === null ? 'cb-dimmed' : undefined}>
                    {valueWords(value)}
                  </span>
                  <Quote turns={turns} quote={quote} onQuote={onQuote} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {(isAbsent || call.callAnalysis !== null) && (
        <section>
          {!isAbsent && <h3 className={classes.title}>All values, as the API has them</h3>}
          <Analysis analysis={call.callAnalysis} />
        </section>
      )}
    </>
  )
}

/** Which version and model, or why there is nothing new. */
function StateLine({ analysis }: { analysis: AnalysisOf }) {
  const { version, model, at, tokens } = analysis
  const words = stateWords(analysis)
  return (
    <p className={classes.state} role="status">
      {words}{' '}
      {at && (
        <span className="cb-dimmed">
          {words ? 'Before: version' : 'Version'} {version} of the rubric, {model && <Mono>{model}</Mono>},{' '}
          <Instant at={at} />
          {tokens && `, ${counted(tokens.prompt + tokens.completion, 'token')}`}
        </span>
      )}
    </p>
  )
}

interface CriteriaProps extends Pick<CallAnalysisProps, 'review' | 'onQuote'> {
  /** The call's. */
  id: string
  analysis: AnalysisOf
}

function Criteria({ id, analysis, review, onQuote }: CriteriaProps) {
  const { id: project } = useProject()
  const { mutate } = useReview(id)
  const isReadOnly = useRefusal('change') !== null
  const { data, isPending } = useQuery({
    ...rubricQuery(project, analysis.version ?? undefined),
    enabled: analysis.criteria.length > 0,
  })
  const list = useRef<HTMLOListElement>(null)
  const { criteria } = analysis
  const ruled = review?.criteria ?? {}
  const rule = ({ id }: JudgedCriterion, verdict: 'pass' | 'fail') =>
    mutate({ criteria: { [id]: ruled[id] === verdict ? null : verdict } })
  const focus = (at: number) => {
    const item = list.current?.children[Math.min(at, criteria.length - 1)]
    if (item instanceof HTMLElement) item.focus()
  }
  const focused = () =>
    [...(list.current?.children ?? [])].findIndex((item) => item.contains(document.activeElement))
  /** The criterion with the focus, or the first that nobody has ruled on. */
  const current = () => {
    const at = focused()
    const open = criteria.findIndex(({ id }) => !ruled[id])
    return at < 0 ? Math.max(0, open) : at
  }
  const ruleByKey = (verdict: 'pass' | 'fail') => () => {
    const at = current()
    const criterion = criteria[at]
    if (!criterion || isReadOnly) return
    rule(criterion, verdict)
    focus(ruled[criterion.id] === verdict ? at : at + 1)
  }
  const quoteByKey = () => {
    const { turns = [], quote } = criteria[current()] ?? {}
    if (quote) onQuote(turns, quote)
  }
  useKeys({
    c: () => focus(focused() < 0 ? current() : (focused() + 1) % criteria.length),
    '1': ruleByKey('pass'),
    '2': ruleByKey('fail'),
    q: quoteByKey,
  })
  if (criteria.length === 0) return null
  // Questions that come later would move what is read.
  if (isPending) return <Skeleton height={criteria.length * 140} />
  const asked = new Map(data?.rubric?.criteria.map((one) => [one.id, one]))
  return (
    <ol ref={list} className={classes.criteria} aria-label="Criteria">
      {criteria.map((criterion) => {
        const { id, result, rationale, turns, quote } = criterion
        const own = ruled[id]
        const { name = id, question } = asked.get(id) ?? {}
        return (
          <li key={id} tabIndex={-1} aria-label={name} className={classes.criterion}>
            <div className={classes.head}>
              <h3 dir="auto">{name}</h3>
              <Ruling name={name} own={own} onRule={(verdict) => rule(criterion, verdict)} />
            </div>
            {question && (
              <p dir="auto" className={classes.question}>
                {question}
              </p>
            )}
            <p className={classes.verdicts}>
              <Verdict result={own ?? result} />
              {own && (
                <span className={classes.model}>
                  Model: <Verdict result={result} />
                </span>
              )}
            </p>
            {rationale && <p dir="auto">{rationale}</p>}
            {quote ? (
              <Quote turns={turns} quote={quote} onQuote={onQuote} />
            ) : (
              <p className="cb-dimmed">No words of the call support an answer.</p>
            )}
          </li>
        )
      })}
    </ol>
  )
}

interface RulingProps {
  name: string
  own: 'pass' | 'fail' | undefined
  onRule: (verdict: 'pass' | 'fail') => void
}

const rulings = [
  { verdict: 'pass', label: 'Pass', key: 1 },
  { verdict: 'fail', label: 'Fail', key: 2 },
] as const

/** A person's verdict. Choosing it again takes it back. */
function Ruling({ name, own, onRule }: RulingProps) {
  return (
    <fieldset className={classes.ruling} aria-label={`Your verdict on ${name}`}>
      {rulings.map(({ verdict, label, key }) => (
        <Guarded key={verdict} right="change" label={own === verdict ? 'Take it back' : `${label} (${key})`}>
          <Button
            variant="default"
            size="compact-sm"
            aria-pressed={own === verdict}
            onClick={() => onRule(verdict)}
          >
            {label}
          </Button>
        </Guarded>
      ))}
    </fieldset>
  )
}

interface QuoteProps extends Pick<CallAnalysisProps, 'onQuote'> {
  turns: readonly number[]
  quote: string
}

function Quote({ turns, quote, onQuote }: QuoteProps) {
  if (!quote) return null
  return (
    <button type="button" className={classes.quote} onClick={() => onQuote(turns, quote)}>
      <IconCornerDownRight size={14} aria-hidden />
      <span className="cb-hidden">Show in the transcript: </span>
      <q dir="auto">{quote}</q>
    </button>
  )
}
