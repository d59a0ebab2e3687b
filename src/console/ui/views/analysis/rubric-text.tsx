import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { RubricContent, RubricField } from '../../../../analysis/schemas.ts'
import { Mono } from '../../components/code.tsx'
import { asCount, asPercent, counted } from '../../components/figures.ts'
import { Panel } from '../../components/panel.tsx'
import { valueLabel } from '../calls/filter-labels.ts'
import { groundedWords } from './rubric-draft.ts'

/** A rubric to read. */
export function RubricText({ rubric }: { rubric: RubricContent }) {
  const { summary, criteria, fields, evaluation, tokensPerMonth } = rubric
  const names = new Map(criteria.map(({ id, name }) => [id, name]))
  return (
    <>
      <Panel title="Criteria">
        <Questions>
          {criteria.map(({ id, name, question = groundedWords }) => (
            <Question key={id} title={<bdi>{name}</bdi>} id={id}>
              {question}
            </Question>
          ))}
        </Questions>
      </Panel>
      <Panel title="Evaluation">
        {evaluation === null && 'Calls are not evaluated.'}
        {evaluation === 'all' && 'A call is a success when all criteria pass.'}
        {Array.isArray(evaluation) && (
          <p dir="auto">
            A call is a success when these pass: {evaluation.map((id) => names.get(id) ?? id).join(', ')}.
          </p>
        )}
      </Panel>
      <Panel title="Fields">
        <Questions>
          {fields.map(({ key, type, description, choices }) => (
            <Question key={key} title={<Mono>{key}</Mono>} id={typeWords[type]}>
              {description}
              {choices && ` (${choices.join(', ')})`}
            </Question>
          ))}
        </Questions>
      </Panel>
      <Panel title="Summary">
        {summary ? (
          <p dir="auto">{summary.instructions || 'A summary, without instructions.'}</p>
        ) : (
          'No summaries are written.'
        )}
      </Panel>
      <Panel title="Which calls">
        <p>
          {conditionsOf(rubric)}{' '}
          {tokensPerMonth !== null && `At most ${asCount(tokensPerMonth)} tokens a month.`}
        </p>
      </Panel>
    </>
  )
}

const typeWords: Record<RubricField['type'], string> = {
  string: 'text',
  enum: 'one of some choices',
  boolean: 'yes or no',
  integer: 'whole number',
  number: 'number',
}

function Questions({ children }: { children: ReactNode[] }) {
  return children.length === 0 ? (
    <>None.</>
  ) : (
    <Stack component="dl" gap="sm" className="cb-wrap">
      {children}
    </Stack>
  )
}

function Question({ title, id, children }: { title: ReactNode; id: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" fw={500}>
        {title} <span className="cb-note">{id}</span>
      </Text>
      <dd dir="auto">{children}</dd>
    </div>
  )
}

function conditionsOf({ when, share }: RubricContent): string {
  const { minUserTurns, minDuration, agentIds, sources, endedReasons } = when
  const among = (what: string, name: 'agentId' | 'source' | 'endedReason', values: string[] | undefined) =>
    values ? [`${what} ${values.map((value) => valueLabel(name, value)).join(' or ')}`] : []
  const conditions = [
    ...(minUserTurns ? [`at least ${counted(minUserTurns, 'turn')} of the caller`] : []),
    ...(minDuration ? [`at least ${counted(minDuration, 'second')}`] : []),
    ...among('with the agent', 'agentId', agentIds),
    ...among('from', 'source', sources),
    ...among('that ended for', 'endedReason', endedReasons),
  ]
  const which = conditions.length > 0 ? ` with: ${conditions.join('; ')}` : ''
  if (share === 0) return 'Off: no calls are analyzed.'
  return `${share === 1 ? 'All completed calls' : `${asPercent(share)} of the completed calls`}${which}.`
}
