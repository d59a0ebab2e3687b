import {
  Button,
  Checkbox,
  Group,
  Input,
  MultiSelect,
  NumberInput,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { RubricField } from '../../../../analysis/schemas.ts'
import { ApiProblem, read } from '../../api.ts'
import { Mono } from '../../components/code.tsx'
import { sentenceOf } from '../../components/field-errors.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import { valueLabel } from '../calls/filter-labels.ts'
import classes from './analysis-page.module.css'
import {
  type CriterionDraft,
  type FieldDraft,
  groundedWords,
  idOf,
  idsOf,
  type NumberDraft,
  newCriterion,
  newField,
  type RubricDraft,
} from './rubric-draft.ts'

const criteriaMax = 20
const fieldsMax = 50
const nameCharsMax = 200
const questionCharsMax = 2_000
const instructionsCharsMax = 4_000

interface EditorProps {
  draft: RubricDraft
  onChange: (change: Partial<RubricDraft>) => void
  /** What the service refused. */
  error: unknown
  /** Called when rows move, so that errors by their number are no longer shown. */
  onShift: () => void
}

/** All that a rubric asks and when, as forms. */
export function RubricEditor(props: EditorProps) {
  return (
    <>
      <Panel title="Criteria">
        <Criteria {...props} />
      </Panel>
      <Panel title="Evaluation">
        <Evaluation {...props} />
      </Panel>
      <Panel title="Fields">
        <Fields {...props} />
      </Panel>
      <Panel title="Summary">
        <Summary {...props} />
      </Panel>
      <Panel title="Which calls">
        <Conditions {...props} />
      </Panel>
    </>
  )
}

function Criteria({ draft: { criteria }, onChange, error, onShift }: EditorProps) {
  const ids = idsOf(criteria)
  return (
    <Stack>
      <p className="cb-dimmed">
        Questions that a call answers with yes or no. Yes passes, no fails. Ask for one thing at a time, and
        for something that is said in the call: the model has to quote it, or its answer counts as unknown.
      </p>
      <Rows
        rows={criteria}
        what="criterion"
        nameOf={({ name }) => name}
        max={criteriaMax}
        onChange={(rows) => onChange({ criteria: rows })}
        onShift={onShift}
        create={newCriterion}
      >
        {(row, at, change: (change: Partial<CriterionDraft>) => void) => (
          <>
            <TextInput
              label="Name"
              placeholder="e.g. Confirmed the date"
              maxLength={nameCharsMax}
              autoComplete="off"
              value={row.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
              error={errorAt(error, `criteria.${at}.name`) ?? errorAt(error, `criteria.${at}.id`)}
            />
            <Textarea
              label={row.kind === 'grounded' ? 'Question (optional)' : 'Question'}
              placeholder={
                row.kind === 'grounded'
                  ? groundedWords
                  : 'e.g. Did the agent repeat the date and the time, and did the caller agree?'
              }
              maxLength={questionCharsMax}
              autosize
              minRows={2}
              value={row.question}
              onChange={(event) => change({ question: event.currentTarget.value })}
              error={errorAt(error, `criteria.${at}.question`)}
            />
            <Select
              label="What is asked"
              data={kinds}
              allowDeselect={false}
              value={row.kind}
              onChange={(kind) => change({ kind: kind as CriterionDraft['kind'] })}
            />
            {row.kind === 'grounded' && <Unrecorded />}
            <p className="cb-note cb-wrap">
              {row.name.trim() === '' && row.savedId === null ? (
                'Its ID is made from its name.'
              ) : (
                <>
                  ID <Mono>{ids.get(row.row)}</Mono>
                  {row.savedId !== null && ', which stays when the name changes'}
                </>
              )}
            </p>
          </>
        )}
      </Rows>
      <ListError>{errorOfList(error, 'criteria')}</ListError>
    </Stack>
  )
}

const kinds: { value: CriterionDraft['kind']; label: string }[] = [
  { value: 'question', label: 'A question of your own' },
  { value: 'grounded', label: 'Whether the agent’s facts are in what it found' },
]

/** A note for projects that keep no questions. */
function Unrecorded() {
  const { data } = useQuery(read(useProject().of.settings))
  if (data?.keepQuestionsDays !== null) return null
  return (
    <p className="cb-note">
      Unknown for every call whose searches are not recorded:{' '}
      <PageLink {...to.privacy}>keep questions</PageLink> first.
    </p>
  )
}

function Evaluation({
  draft: { evaluation, deciding, criteria },
  onChange,
  error,
}: Pick<EditorProps, 'draft' | 'onChange' | 'error'>) {
  return (
    <Stack>
      <Radio.Group
        label="What makes a call a success"
        description="It fills the evaluation of calls whose platform sends none. A criterion that fails makes it failed; where one is unknown, it stays open."
        value={evaluation}
        onChange={(value) => onChange({ evaluation: value as RubricDraft['evaluation'] })}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="all" label="All criteria pass" />
          <Radio value="none" label="Nothing: calls are not evaluated" />
          <Radio value="some" label="These criteria pass" />
        </Stack>
      </Radio.Group>
      {evaluation === 'some' && (
        <Checkbox.Group
          aria-label="Criteria that decide"
          value={deciding}
          onChange={(rows) => onChange({ deciding: rows })}
        >
          <Stack gap="xs" pl={28}>
            {criteria.map(({ row, name }, at) => (
              <Checkbox key={row} value={row} label={<bdi>{name.trim() || `Criterion ${at + 1}`}</bdi>} />
            ))}
            {criteria.length === 0 && <p className="cb-dimmed">Add a criterion first.</p>}
          </Stack>
        </Checkbox.Group>
      )}
      <ListError>{errorAt(error, 'evaluation') && 'Choose at least one criterion.'}</ListError>
    </Stack>
  )
}

const fieldTypes: { value: RubricField['type']; label: string }[] = [
  { value: 'string', label: 'Text' },
  { value: 'enum', label: 'One of some choices' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'integer', label: 'Whole number' },
  { value: 'number', label: 'Number' },
]

function Fields({ draft: { fields }, onChange, error, onShift }: EditorProps) {
  return (
    <Stack>
      <p className="cb-dimmed">
        Values to read out of a call, such as its topic. They stand among a call’s analysis, where calls can
        be filtered by them; so a key that is saved does not change.
      </p>
      <Rows
        rows={fields}
        what="field"
        nameOf={({ key }) => key}
        max={fieldsMax}
        onChange={(rows) => onChange({ fields: rows })}
        onShift={onShift}
        create={newField}
      >
        {(row, at, change: (change: Partial<FieldDraft>) => void) => (
          <>
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="sm">
              <TextInput
                label="Key"
                placeholder="e.g. booking_day"
                readOnly={row.isSaved}
                maxLength={40}
                autoComplete="off"
                spellCheck={false}
                classNames={{ input: 'cb-mono' }}
                value={row.key}
                onChange={(event) => change({ key: keyOf(event.currentTarget.value) })}
                error={errorAt(error, `fields.${at}.key`)}
              />
              <Select
                label="Type"
                data={fieldTypes}
                allowDeselect={false}
                value={row.type}
                onChange={(value) => change({ type: value as RubricField['type'] })}
                error={errorAt(error, `fields.${at}.type`)}
              />
            </SimpleGrid>
            <Textarea
              label="What it says"
              placeholder="e.g. The day that was booked, as the caller said it."
              maxLength={questionCharsMax}
              autosize
              value={row.description}
              onChange={(event) => change({ description: event.currentTarget.value })}
              error={errorAt(error, `fields.${at}.description`)}
            />
            {row.type === 'enum' && (
              <TagsInput
                label="Choices"
                description="Press Enter after each."
                splitChars={[]}
                maxTags={50}
                value={row.choices}
                onChange={(choices) => change({ choices })}
                error={errorAt(error, `fields.${at}.choices`)}
              />
            )}
          </>
        )}
      </Rows>
      <ListError>{errorOfList(error, 'fields')}</ListError>
    </Stack>
  )
}

/** What is typed as a key: an underscore at its end is one that goes on. */
function keyOf(text: string): string {
  const key = idOf(text)
  return /[\s_-]$/.test(text) && key !== '' ? `${key}_`.slice(0, 40) : key
}

function Summary({ draft: { hasSummary, instructions }, onChange, error }: EditorProps) {
  return (
    <Stack>
      <Switch
        label="Write a summary"
        description="For calls whose platform sends none."
        checked={hasSummary}
        onChange={(event) => onChange({ hasSummary: event.currentTarget.checked })}
      />
      {hasSummary && (
        <Textarea
          label="What it should say"
          placeholder="e.g. Two sentences: what the caller wanted, and how it ended."
          maxLength={instructionsCharsMax}
          autosize
          minRows={2}
          value={instructions}
          onChange={(event) => onChange({ instructions: event.currentTarget.value })}
          error={errorAt(error, 'summary')}
        />
      )}
    </Stack>
  )
}

/** What a number field says while it is typed in. */
function numberOf(value: string | number): NumberDraft {
  return typeof value === 'number' ? value : value.trim() === '' ? '' : Number(value)
}

function Conditions({ draft, onChange, error }: EditorProps) {
  return (
    <Stack>
      <p className="cb-dimmed">
        Completed calls for which all of this holds are analyzed; others are skipped. What is empty does not
        matter.
      </p>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="sm">
        <NumberInput
          label="Turns of the caller, at least"
          placeholder="Any"
          min={0}
          allowDecimal={false}
          value={draft.minUserTurns}
          onChange={(value) => onChange({ minUserTurns: numberOf(value) })}
          error={errorAt(error, 'when.minUserTurns')}
        />
        <NumberInput
          label="Duration in seconds, at least"
          placeholder="Any"
          min={0}
          value={draft.minDuration}
          onChange={(value) => onChange({ minDuration: numberOf(value) })}
          error={errorAt(error, 'when.minDuration')}
        />
      </SimpleGrid>
      <InUseSelect
        name="agentId"
        label="Agents"
        values={draft.agentIds}
        onChange={(agentIds) => onChange({ agentIds })}
        error={errorAt(error, 'when.agentIds')}
      />
      <InUseSelect
        name="source"
        label="Platforms"
        values={draft.sources}
        onChange={(sources) => onChange({ sources })}
        error={errorAt(error, 'when.sources')}
      />
      <InUseSelect
        name="endedReason"
        label="End reasons"
        values={draft.endedReasons}
        onChange={(endedReasons) => onChange({ endedReasons })}
        error={errorAt(error, 'when.endedReasons')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="sm">
        <NumberInput
          label="Share of these calls"
          description="Chosen by their IDs, so always the same ones. 0% switches analysis off."
          suffix="%"
          min={0}
          max={100}
          decimalScale={2}
          value={draft.sharePercent}
          onChange={(value) => onChange({ sharePercent: numberOf(value) })}
          error={errorAt(error, 'share')}
        />
        <NumberInput
          label="Tokens a month, at most"
          description="By the calendar month in UTC. What does not fit waits, and is done later."
          placeholder="No limit"
          min={0}
          allowDecimal={false}
          thousandSeparator
          value={draft.tokensPerMonth}
          onChange={(value) => onChange({ tokensPerMonth: numberOf(value) })}
          error={errorAt(error, 'tokensPerMonth')}
        />
      </SimpleGrid>
    </Stack>
  )
}

function ListError({ children }: { children: string | undefined }) {
  return children && <Input.Error role="alert">{children}</Input.Error>
}

interface InUseSelectProps {
  name: 'agentId' | 'source' | 'endedReason'
  label: string
  values: string[]
  onChange: (values: string[]) => void
  error: string | undefined
}

/** Chooses values that the project's calls have, or any that is typed. */
function InUseSelect({ name, label, values, onChange, error }: InUseSelectProps) {
  const { id: project } = useProject()
  const { data: facets } = useQuery(facetsQuery(project))
  const [text, setText] = useState('')
  const inUse = (facets?.[name] ?? []).map(({ value, label }) => ({
    value,
    label: label ?? valueLabel(name, value),
  }))
  const typed = text.trim()
  const isKnown = (value: string) => inUse.some((one) => one.value === value || one.label === value)
  const others = [...new Set(values)].filter((value) => !isKnown(value))
  const isNew = typed !== '' && !isKnown(typed) && !others.includes(typed)
  return (
    <MultiSelect
      label={label}
      placeholder={values.length === 0 ? 'Any' : ''}
      searchable
      searchValue={text}
      onSearchChange={setText}
      nothingFoundMessage="Type a value to add it"
      limit={50}
      maxValues={100}
      value={values}
      onChange={onChange}
      data={[
        ...inUse,
        ...others.map((value) => ({ value, label: valueLabel(name, value) })),
        ...(isNew ? [{ value: typed, label: `Add ${typed}` }] : []),
      ]}
      error={error}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
    />
  )
}

/** The parts of a rubric, each of which shows its own errors. */
const parts = ['summary', 'criteria', 'fields', 'evaluation', 'when', 'share', 'tokensPerMonth']

/** What is wrong with a field, or with a part of it: `criteria.0.name` of a rubric. */
function errorAt(error: unknown, path: string): string | undefined {
  return error instanceof ApiProblem
    ? error.fields
        .filter(({ field }) => field === path || field.startsWith(`${path}.`))
        .map(({ field, message }) => sentenceOf(field, message))[0]
    : undefined
}

/** What is wrong with a list as a whole. */
function errorOfList(error: unknown, list: string): string | undefined {
  const found = error instanceof ApiProblem ? error.fields.find(({ field }) => field === list) : undefined
  return found && sentenceOf(found.field, found.message)
}

/** Whether fields show all of the error. */
export function isShownByFields(error: unknown): boolean {
  return (
    error instanceof ApiProblem &&
    error.fields.length > 0 &&
    error.fields.every(({ field }) => parts.includes(field.split('.')[0] ?? ''))
  )
}

interface RowsProps<Row extends { row: string }> {
  rows: readonly Row[]
  /** One of them, such as `criterion`. */
  what: string
  nameOf: (row: Row) => string
  max: number
  onChange: (rows: Row[]) => void
  /** Called when rows change their places. */
  onShift: () => void
  create: () => Row
  children: (row: Row, at: number, change: (change: Partial<Row>) => void) => ReactNode
}

/** A list of small forms, which can be added to, reordered and removed from by mouse and by keyboard. */
function Rows<Row extends { row: string }>(props: RowsProps<Row>) {
  const { rows, what, nameOf, max, onChange, onShift, create, children } = props
  const list = useRef<HTMLOListElement>(null)
  const adding = useRef<HTMLButtonElement>(null)
  const [said, setSaid] = useState('')
  const labelOf = (row: Row, at: number) => nameOf(row).trim() || `${what} ${at + 1}`
  const add = () => {
    flushSync(() => onChange([...rows, create()]))
    list.current?.lastElementChild?.querySelector('input')?.focus()
  }
  const move = (row: Row, at: number, by: 1 | -1, button: HTMLButtonElement) => {
    if (at + by < 0 || at + by >= rows.length) return
    flushSync(() => {
      onShift()
      onChange(rows.toSpliced(at, 1).toSpliced(at + by, 0, row))
      setSaid(`${labelOf(row, at)} is now ${at + by + 1} of ${rows.length}`)
    })
    // Moving an element takes the focus from it.
    button.focus()
  }
  const remove = (at: number) => {
    flushSync(() => {
      onShift()
      onChange(rows.toSpliced(at, 1))
    })
    const next = list.current?.children[Math.min(at, rows.length - 2)]
    const button = next?.querySelector<HTMLElement>('[data-remove]') ?? adding.current
    button?.focus()
  }
  return (
    <>
      {rows.length > 0 && (
        <ol ref={list} className="cb-stack">
          {rows.map((row, at) => (
            <li key={row.row} className={`cb-box ${classes.row}`}>
              <Stack gap="sm" flex={1} miw={0}>
                {children(row, at, (change) => onChange(rows.with(at, { ...row, ...change })))}
              </Stack>
              <Group gap={4} className={classes.rowActions}>
                {([-1, 1] as const).map((by) => (
                  <IconButton
                    key={by}
                    icon={by < 0 ? IconArrowUp : IconArrowDown}
                    label={`Move ${labelOf(row, at)} ${by < 0 ? 'up' : 'down'}`}
                    hint={by < 0 ? 'Move up' : 'Move down'}
                    isOff={at + by < 0 || at + by >= rows.length}
                    onClick={(event) => move(row, at, by, event.currentTarget)}
                  />
                ))}
                <IconButton
                  icon={IconTrash}
                  label={`Remove ${labelOf(row, at)}`}
                  hint="Remove"
                  data-remove
                  onClick={() => remove(at)}
                />
              </Group>
            </li>
          ))}
        </ol>
      )}
      <Button
        ref={adding}
        style={{ alignSelf: 'flex-start' }}
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        onClick={add}
        disabled={rows.length >= max}
      >
        Add {what}
      </Button>
      <span role="status" className="cb-hidden">
        {said}
      </span>
    </>
  )
}
