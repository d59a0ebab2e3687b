import { Blockquote, Group, Select, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { toolUses } from '../../../../calls/reading/steps.ts'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { cut } from '../../../../cases/cut.ts'
import { read } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { CodeBlock } from '../../components/code.tsx'
import { counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { PageLink } from '../../components/links.tsx'
import { Labelled } from '../../components/page.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { valueLabel } from '../calls/filter-labels.ts'

const expectCharsMax = 2_000

interface CaseFormProps {
  call: Call
  details: CallDetails
  turn: number
  onClose: () => void
}

/** Makes a test of an answer: shows where the conversation is cut, and asks what should hold instead. */
export default function CaseForm({ call, details, turn, onClose }: CaseFormProps) {
  const { id: project, of } = useProject()
  const [made, setMade] = useState<string | null>(null)
  const { data } = useQuery(read(of.analysis.rubric))
  const criteria = data?.rubric?.criteria.filter(({ question }) => question !== undefined) ?? []
  const form = useApiForm({
    first: {
      expect: details.review?.note?.slice(0, expectCharsMax).toWellFormed() ?? '',
      criterion: null as string | null,
    },
    body: ({ expect, criterion }) => ({
      call: call.id,
      turn,
      ...(criterion === null ? { expect } : { criterion }),
    }),
    isReady: ({ expect, criterion }) => criterion !== null || expect.trim() !== '',
    send: (body) => of.cases.post(body),
    changes: of.cases,
    done: (answer) => setMade(answer.case.id),
  })
  const tools = toolUses(call.transcript.length, details.timeline)
  const pieces = cut({ transcript: call.transcript, tools }, turn)
  if (typeof pieces === 'string') return <p>No test can be made of this turn: it {pieces}.</p>
  if (made !== null) return <Made id={made} project={project} onClose={onClose} />
  const last = pieces.messages.at(-1)
  const source = details.source === null ? null : valueLabel('source', details.source)
  return (
    <ApiForm form={form} label="Make test" onCancel={onClose}>
      <Labelled label={last?.role === 'tool' ? 'Cut after a tool’s result' : 'Cut after the caller says'}>
        <Said>{last?.content}</Said>
      </Labelled>
      <Labelled label="The agent then said">
        <Said>{pieces.said}</Said>
      </Labelled>
      {pieces.omitted > 0 && (
        <Text size="sm" c="dimmed">
          {counted(pieces.omitted, 'tool’s result', 'tools’ results')} {pieces.omitted === 1 ? 'is' : 'are'}{' '}
          not kept{source && ` by ${source}`}, and missing in the test.
        </Text>
      )}
      {criteria.length > 0 && (
        <Select
          label="Expectation"
          placeholder="In your own words"
          clearable
          data={criteria.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.field('criterion')}
        />
      )}
      {form.values.criterion === null ? (
        <Textarea
          label={criteria.length > 0 ? 'What the answer must do' : 'Expectation'}
          description="For example: The agent does not promise a refund."
          autosize
          minRows={2}
          maxRows={8}
          maxLength={expectCharsMax}
          data-autofocus
          {...form.field('expect')}
        />
      ) : (
        <Said>{criteria.find(({ id }) => id === form.values.criterion)?.question}</Said>
      )}
    </ApiForm>
  )
}

function Said({ children }: { children: string | null | undefined }) {
  return (
    <Blockquote
      p="xs"
      dir="auto"
      style={{ overflowWrap: 'anywhere', maxHeight: 120, overflowY: 'auto' }}
      tabIndex={0}
    >
      {children}
    </Blockquote>
  )
}

function Made({ id, project, onClose }: { id: string; project: string; onClose: () => void }) {
  const command = `bun callbook case export --project ${project} --format jsonl --id ${id}`
  return (
    <Stack>
      <p role="status">The test is made. Export it for your framework, or check an agent with it:</p>
      <CodeBlock code={command} label="Copy command" />
      <Group justify="space-between">
        <PageLink {...to.tests} onClick={onClose}>
          All tests
        </PageLink>
        <TextButton label="Done" data-autofocus onClick={onClose} />
      </Group>
    </Stack>
  )
}
