import { Box, Button, Group, Skeleton, Stack, Title } from '@mantine/core'
import { IconChartDots, IconCornerDownRight, IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import type { Analysis, JudgedCriterion } from '../../../../analysis/schemas.ts'
import type { ShownDetails } from '../../../call-routes.ts'
import { CopyButton, Mono } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { useKeys } from '../../components/events.ts'
import { asBytes, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { Instant } from '../../components/instant.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { PageLink } from '../../components/links.tsx'
import { Facts, Loaded } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { callAnalysisQuery, rubricQuery } from '../analysis/analysis-queries.ts'
import { stateWords, Verdict, valueWords } from '../analysis/analysis-words.tsx'
import classes from './call.module.css'
import { useCallPage } from './call-page.ts'
import { useReview } from './review-queries.ts'

/** What the model and people say of a call, criterion by criterion, and all values of its analysis. */
export function CallAnalysis() {
  const { id: project } = useProject()
  const { call } = useCallPage()
  return (
    <Loaded query={useQuery(callAnalysisQuery(project, call.id))} what="The analysis">
      {(analysis) => <Judged analysis={analysis} values={call.callAnalysis} />}
    </Loaded>
  )
}

interface JudgedProps {
  analysis: Analysis
  /** As the API has them. */
  values: Record<string, unknown> | null
}

function Judged({ analysis, values }: JudgedProps) {
  const { state, version, fields } = analysis
  const isAbsent = state === 'none' && version === null
  const hasValues = values !== null && Object.keys(values).length > 0
  return (
    <>
      {!isAbsent && <StateLine analysis={analysis} />}
      <Criteria analysis={analysis} />
      {fields.length > 0 && (
        <section>
          <Title order={3} fz={13} mt={16} mb={4}>
            Fields
          </Title>
          <Facts
            of={Object.fromEntries(
              fields.map(({ key, value, turns, quote }) => [
                key,
                <Stack key={key} gap={4} align="flex-start">
                  <span dir="auto" className={value === null ? 'cb-dimmed' : undefined}>
                    {valueWords(value)}
                  </span>
                  <Quote turns={turns} quote={quote} />
                </Stack>,
              ]),
            )}
          />
        </section>
      )}
      {hasValues && (
        <section>
          {!isAbsent && (
            <Title order={3} fz={13} mt={16} mb={4}>
              All values, as the API has them
            </Title>
          )}
          <JsonTree value={values} depth={3} />
        </section>
      )}
      {isAbsent && !hasValues && <NoAnalysis />}
    </>
  )
}

function NoAnalysis() {
  const { id: project } = useProject()
  return (
    <Empty icon={<IconChartDots size={24} stroke={1.6} />} title="No analysis">
      Values that a platform sends as <span className="cb-mono">callAnalysis</span> appear here, key by key. A
      model can also answer your own questions about each call: an owner writes them in{' '}
      <PageLink to="/p/$project/settings/analysis" params={{ project }}>
        Settings, Analysis
      </PageLink>
      .
    </Empty>
  )
}

/** Which version and model, or why there is nothing new. */
function StateLine({ analysis }: { analysis: Analysis }) {
  const { version, model, at, tokens } = analysis
  const words = stateWords(analysis)
  return (
    <Box component="p" mb={12} role="status">
      {words}{' '}
      {at && (
        <span className="cb-dimmed">
          {words ? 'Before: version' : 'Version'} {version} of the rubric, {model && <Mono>{model}</Mono>},{' '}
          <Instant at={at} />
          {tokens && `, ${counted(tokens.prompt + tokens.completion, 'token')}`}
        </span>
      )}
    </Box>
  )
}

function Criteria({ analysis }: { analysis: Analysis }) {
  const { id: project } = useProject()
  const { call, details, places } = useCallPage()
  const { mutate } = useReview(call.id)
  const isReadOnly = useRefusal('change') !== null
  const { data, isPending } = useQuery({
    ...rubricQuery(project, analysis.version ?? undefined),
    enabled: analysis.criteria.length > 0,
  })
  const list = useRef<HTMLOListElement>(null)
  const { criteria } = analysis
  const ruled = details?.review?.criteria ?? {}
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
    if (quote) places.quote(turns, quote)
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
  const rubric = new Map(data?.rubric?.criteria.map((one) => [one.id, one]))
  return (
    <ol ref={list} className="cb-box cb-wrap" aria-label="Criteria">
      {criteria.map((criterion) => {
        const { id, result, rationale, turns, quote, support } = criterion
        const own = ruled[id]
        const { name = id, kind, question } = rubric.get(id) ?? {}
        return (
          <Stack
            key={id}
            component="li"
            gap={4}
            p={12}
            align="flex-start"
            tabIndex={-1}
            aria-label={name}
            className={classes.criterion}
          >
            <Group justify="space-between" align="flex-start" wrap="nowrap" gap={12} w="100%">
              <Title order={3} miw={0} lh="24px" dir="auto">
                {name}
              </Title>
              <Ruling name={name} own={own} onRule={(verdict) => rule(criterion, verdict)} />
            </Group>
            {question && (
              <Box component="p" fz={12} lh="16px" dir="auto" className="cb-dimmed">
                {question}
              </Box>
            )}
            <Group component="p" gap="4px 12px">
              <Verdict result={own ?? result} />
              {own && (
                <Group component="span" gap={6} className="cb-dimmed">
                  Model: <Verdict result={result} />
                </Group>
              )}
            </Group>
            {rationale && <p dir="auto">{rationale}</p>}
            {quote ? (
              <Quote turns={turns} quote={quote} />
            ) : (
              <p className="cb-dimmed">No words of the call support an answer.</p>
            )}
            {kind === 'grounded' && result === 'fail' && (
              <p className="cb-dimmed">Not in what Callbook and the tools answered.</p>
            )}
            {support && <Support of={support} />}
          </Stack>
        )
      })}
    </ol>
  )
}

/** The passage or the tool's result that supports what the agent said. */
function Support({ of: { itemId, name, quote } }: { of: NonNullable<JudgedCriterion['support']> }) {
  return (
    <p className="cb-wrap">
      <span className="cb-dimmed">Supported by </span>
      {itemId === null ? <Mono>{name}</Mono> : <PageLink {...to.item(itemId)}>{name}</PageLink>}
      {': '}
      <q dir="auto">{quote}</q>
    </p>
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
    <Group
      component="fieldset"
      gap={4}
      wrap="nowrap"
      m={0}
      p={0}
      bd="none"
      flex="none"
      aria-label={`Your verdict on ${name}`}
    >
      {rulings.map(({ verdict, label, key }) => (
        <Guarded key={verdict} right="change" label={own === verdict ? 'Clear verdict' : `${label} (${key})`}>
          <Button
            variant={own === verdict ? 'light' : 'default'}
            size="compact-sm"
            aria-pressed={own === verdict}
            onClick={() => onRule(verdict)}
          >
            {label}
          </Button>
        </Guarded>
      ))}
    </Group>
  )
}

/** The words of the call that support an answer; they lead to their turn. */
function Quote({ turns, quote }: { turns: readonly number[]; quote: string }) {
  const { places } = useCallPage()
  if (!quote) return null
  return (
    <Group
      component="button"
      gap={6}
      wrap="nowrap"
      align="flex-start"
      px={8}
      py={4}
      className={`cb-wrap ${classes.quote}`}
      onClick={() => places.quote(turns, quote)}
    >
      <IconCornerDownRight size={14} aria-hidden />
      <span className="cb-hidden">Show in the transcript: </span>
      <q dir="auto">{quote}</q>
    </Group>
  )
}

/** The details as the API has them. */
function withoutNumbers({ numbers: _, ...stored }: ShownDetails) {
  return stored
}

/** All that the API has of a call: its thirteen fields, its details, and its analysis. */
export function RawCall() {
  const { id: project } = useProject()
  const { call, details } = useCallPage()
  const { data: analysis, isPending, error, refetch } = useQuery(callAnalysisQuery(project, call.id))
  const whole = useMemo(
    () => ({ ...call, details: details && withoutNumbers(details), analysis }),
    [call, details, analysis],
  )
  const json = useMemo(() => JSON.stringify(whole, null, 2), [whole])
  const download = () => {
    const url = URL.createObjectURL(new Blob([`${json}\n`], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${call.id.replace(/[^A-Za-z0-9._-]/g, '-')}.json`
    link.click()
    URL.revokeObjectURL(url)
  }
  if (isPending) return <Skeleton height={240} />
  return (
    <>
      {error && !analysis && (
        <Problem
          error={error}
          title="The analysis could not be loaded, and is missing here"
          onRetry={() => void refetch()}
        />
      )}
      <Group gap={8} my={12}>
        <CopyButton value={json} label="Copy JSON" withText />
        <Button variant="default" size="xs" leftSection={<IconDownload size={14} />} onClick={download}>
          Download
        </Button>
        <span className="cb-dimmed">{asBytes(new Blob([json]).size)}</span>
      </Group>
      <Box component="section" className="cb-box" p="sm" bg="var(--cb-surface)" aria-label="The call as JSON">
        <JsonTree value={whole} depth={3} />
      </Box>
    </>
  )
}
