import {
  Box,
  Group,
  Loader,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { evaluationOf } from '../../../../analysis/evaluation.ts'
import type { Analysis, Rubric, RubricContent } from '../../../../analysis/schemas.ts'
import { ApiProblem, read, unwrap } from '../../api.ts'
import { Mono } from '../../components/code.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { Duration, Evaluation } from '../calls/call-line.tsx'
import classes from './analysis-page.module.css'
import { statusQuery } from './analysis-queries.ts'
import { stateWords, Verdict, valueWords } from './analysis-words.tsx'

const callsOffered = 6

interface TrialProps {
  /** The rubric of the form. */
  rubric: RubricContent
  /** The version in force; null before the first. */
  inForce: Rubric | null
  /** Whether they differ. */
  isChanged: boolean
}

/** Asks the model about one call, with the form's rubric and with the version in force. Nothing is stored. */
export function Trial({ rubric, inForce, isChanged }: TrialProps) {
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const [id, setId] = useState('')
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: async (call: string) => {
      const ask = (given?: RubricContent) =>
        unwrap(of.analysis.trial.post({ call, ...(given && { rubric: given }) }))
      if (!inForce || !isChanged)
        return { call, before: null, after: await ask(inForce ? undefined : rubric) }
      // What this version has said already costs nothing.
      const stored = await unwrap(of.calls({ id: call }).analysis.get())
      const isStored = stored.state === 'done' && stored.version === inForce.version
      const [after, before] = await Promise.all([ask(rubric), isStored ? stored : ask()])
      return { call, before, after }
    },
    onSettled: () => queryClient.invalidateQueries(statusQuery(project)),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (id.trim() !== '' && !isPending) mutate(id.trim())
  }
  const badCall = error instanceof ApiProblem && [404, 409].includes(error.status) ? error.detail : undefined
  return (
    <Stack>
      <p className="cb-dimmed">
        {isChanged && inForce
          ? `Your changes and version ${inForce.version} answer side by side.`
          : 'See what the model answers.'}{' '}
        Nothing is stored of it; only the tokens count.
      </p>
      <Group component="form" onSubmit={submit} gap="xs" align="flex-start" wrap="nowrap">
        <TextInput
          flex={1}
          label="Call ID"
          value={id}
          onChange={(event) => setId(event.currentTarget.value)}
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'cb-mono' }}
          error={badCall}
          data-autofocus
        />
        <TextButton label="Try" type="submit" mt={24} disabled={id.trim() === ''} loading={isPending} />
      </Group>
      {data === undefined && !isPending && !error && (
        <NewestCalls
          onPick={(call) => {
            setId(call)
            mutate(call)
          }}
        />
      )}
      <div role="status" aria-label="Result">
        {isPending && (
          <Group component="p" gap="xs">
            <Loader size={16} /> The model reads <Mono>{variables}</Mono>. This can take a minute.
          </Group>
        )}
        {error && !badCall && (
          <Problem
            error={error}
            title="The model could not be asked"
            onRetry={() => variables && mutate(variables)}
          />
        )}
      </div>
      {data && !isPending && (
        <Comparison
          old={data.before && inForce && { rubric: inForce, analysis: data.before }}
          now={{ rubric: inForce && !isChanged ? inForce : rubric, analysis: data.after }}
          version={inForce?.version}
        />
      )}
    </Stack>
  )
}

/** Some newest completed calls to choose from. */
function NewestCalls({ onPick }: { onPick: (id: string) => void }) {
  const dates = useDates()
  const { data } = useQuery(read(useProject().of.calls, { status: 'completed', limit: String(callsOffered) }))
  if (!data) return <Skeleton height={callsOffered * 34} />
  if (data.data.length === 0) return <p className="cb-dimmed">No call is completed yet.</p>
  return (
    <div>
      <Text component="h3" size="xs" c="dimmed" fw={500} mb={4}>
        Or one of the newest
      </Text>
      <Stack component="ul" gap={0}>
        {data.data.map(({ id, createdAt, duration, summary }) => (
          <li key={id}>
            <UnstyledButton w="100%" className={classes.newest} onClick={() => onPick(id)}>
              <Group gap="sm" wrap="nowrap" h="var(--cb-row)" px="xs">
                <Text span w={{ base: 96, xs: 120 }} style={{ flex: 'none' }} className="cb-figure">
                  {dates.moment(createdAt)}
                </Text>
                <Box component="span" w={44} style={{ flex: 'none' }}>
                  <Duration seconds={duration} />
                </Box>
                <span className="cb-truncate" dir="auto">
                  {summary ?? <span className="cb-dimmed">No summary</span>}
                </span>
              </Group>
            </UnstyledButton>
          </li>
        ))}
      </Stack>
    </div>
  )
}

interface Answered {
  rubric: RubricContent
  analysis: Analysis
}

interface ComparisonProps {
  old: Answered | null
  now: Answered
  version: number | undefined
}

function Comparison({ old, now, version }: ComparisonProps) {
  const sides = [
    ...(old ? [{ label: `Version ${version}`, ...old }] : []),
    { label: old ? 'Your changes' : version === undefined ? 'Your rubric' : `Version ${version}`, ...now },
  ]
  const columns = { cols: { base: 1, xs: sides.length }, spacing: 'md', verticalSpacing: 'xs' }
  const both = sides.toReversed()
  const criteria = unique(both.flatMap(({ rubric }) => rubric.criteria))
  const keys = [...new Set(both.flatMap(({ rubric }) => rubric.fields.map(({ key }) => key)))]
  const rows: Row[] = [
    { key: 'evaluation', title: 'Evaluation', of: evaluated },
    ...criteria.map(({ id, name }) => ({ key: `c ${id}`, title: name, of: judged(id) })),
    ...keys.map((key) => ({ key: `f ${key}`, title: <Mono>{key}</Mono>, of: found(key) })),
    ...(sides.some(({ rubric }) => rubric.summary)
      ? [{ key: 'summary', title: 'Summary', of: summarized }]
      : []),
  ]
  return (
    <section aria-label="Answers">
      <SimpleGrid {...columns} px="sm" pb="xs">
        {sides.map(({ label, analysis }) => (
          <p key={label}>
            <strong>{label}</strong> <Used analysis={analysis} />
            {analysis.state !== 'done' && (
              <>
                <br />
                {stateWords(analysis)}
              </>
            )}
          </p>
        ))}
      </SimpleGrid>
      {rows.map(({ key, title, of }) => {
        const cells = sides.map((side) => ({ label: side.label, ...of(side) }))
        const differs = key !== 'summary' && new Set(cells.map(({ same }) => same)).size > 1
        return (
          <section key={key} className={classes.comparison} data-differs={differs || undefined}>
            <Group component="h3" gap="xs" mb={4} fz="sm" fw={600} lh="20px">
              <bdi>{title}</bdi>
              {differs && <StatusBadge tone="accent" label="Differs" />}
            </Group>
            <SimpleGrid {...columns}>
              {cells.map(({ label, shown }) => (
                <div key={label}>
                  {sides.length > 1 && (
                    <Text size="xs" c="dimmed" hiddenFrom="xs">
                      {label}
                    </Text>
                  )}
                  {shown}
                </div>
              ))}
            </SimpleGrid>
          </section>
        )
      })}
    </section>
  )
}

function Used({ analysis: { tokens } }: { analysis: Analysis }) {
  if (!tokens) return null
  const used = tokens.prompt + tokens.completion
  const split = `${asCount(tokens.prompt)} sent, ${asCount(tokens.completion)} answered`
  return (
    <span className="cb-dimmed" title={split}>
      {counted(used, 'token')}
    </span>
  )
}

interface Row {
  key: string
  title: ReactNode
  /** What one side says. Sides with an equal `same` do not differ. */
  of: (side: Answered) => { same: unknown; shown: ReactNode }
}

const notAsked = { same: undefined, shown: <span className="cb-dimmed">Not asked</span> }

const evaluated: Row['of'] = ({ rubric, analysis: { state, criteria } }) => {
  const value = state === 'done' ? evaluationOf(rubric, criteria) : null
  return { same: value, shown: <Evaluation value={value} /> }
}

const judged =
  (id: string): Row['of'] =>
  ({ analysis: { criteria } }) => {
    const found = criteria.find((one) => one.id === id)
    if (!found) return notAsked
    const { result, rationale, quote } = found
    const shown = (
      <>
        <Verdict result={result} />
        {rationale && <p dir="auto">{rationale}</p>}
        <Quote text={quote} />
      </>
    )
    return { same: result, shown }
  }

const found =
  (key: string): Row['of'] =>
  ({ analysis: { fields } }) => {
    const field = fields.find((one) => one.key === key)
    if (!field) return notAsked
    const shown = (
      <>
        <p dir="auto" className={field.value === null ? 'cb-dimmed' : undefined}>
          {valueWords(field.value)}
        </p>
        <Quote text={field.quote} />
      </>
    )
    return { same: field.value, shown }
  }

const summarized: Row['of'] = ({ analysis: { summary } }) => ({
  same: summary,
  shown: <p dir="auto">{summary ?? <span className="cb-dimmed">None</span>}</p>,
})

function Quote({ text }: { text: string }) {
  return text && <blockquote dir="auto">{text}</blockquote>
}

function unique<One extends { id: string }>(all: readonly One[]): One[] {
  return [...new Map(all.toReversed().map((one) => [one.id, one])).values()].toReversed()
}
