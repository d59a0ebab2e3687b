import {
  Checkbox,
  Flex,
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
import type { RubricContent, RubricField } from '../../../../analysis/schemas.ts'
import { ApiProblem, read } from '../../api.ts'
import { type FieldProps, inputsOf } from '../../components/api-form.tsx'
import { Mono } from '../../components/code.tsx'
import { sentenceOf } from '../../components/field-errors.ts'
import { IconButton, TextButton } from '../../components/icon-button.tsx'
import { PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { facetsQuery } from '../calls/call-queries.ts'
import { valueLabel } from '../calls/filter-labels.ts'
import classes from './analysis-page.module.css'
import {
  type CriterionDraft,
  draftOf,
  groundedWords,
  idOf,
  idsOf,
  newCriterion,
  newField,
  type RubricDraft,
} from './rubric-draft.ts'

const pairs = { cols: { base: 1, xs: 2 }, spacing: 'md', verticalSpacing: 'sm' }
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

/** A rubric to read. */
export function RubricText({ rubric }: { rubric: RubricContent }) {
  const nothing = () => undefined
  return (
    <fieldset disabled className={classes.text}>
      <Stack gap="lg">
        <RubricEditor draft={draftOf(rubric)} onChange={nothing} error={null} onShift={nothing} />
      </Stack>
    </fieldset>
  )
}

/** All that a rubric asks and when, as forms. */
export function RubricEditor(props: EditorProps) {
  const parts = { Criteria, Evaluation, Fields, Summary, 'Which calls': Conditions }
  return Object.entries(parts).map(([title, Part]) => (
    <Panel key={title} title={title}>
      <Part {...props} />
    </Panel>
  ))
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
        path="criteria"
        nameOf={({ name }) => name}
        max={criteriaMax}
        error={error}
        onChange={(rows) => onChange({ criteria: rows })}
        onShift={onShift}
        create={newCriterion}
      >
        {(row, field) => (
          <>
            <TextInput
              label="Name"
              placeholder="e.g. Confirmed the date"
              maxLength={nameCharsMax}
              autoComplete="off"
              {...field('name')}
              error={field('name').error ?? field('name', 'id').error}
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
              {...field('question')}
            />
            <Select label="What is asked" data={kinds} allowDeselect={false} {...field('kind')} />
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
    </Stack>
  )
}

const kinds: { value: CriterionDraft['kind']; label: string }[] = [
  { value: 'question', label: 'A question of your own' },
  { value: 'grounded', label: 'Whether the agent’s facts are in what it found' },
]

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
        path="fields"
        nameOf={({ key }) => key}
        max={fieldsMax}
        error={error}
        onChange={(rows) => onChange({ fields: rows })}
        onShift={onShift}
        create={newField}
      >
        {(row, field) => (
          <>
            <SimpleGrid {...pairs}>
              <TextInput
                label="Key"
                placeholder="e.g. booking_day"
                readOnly={row.isSaved}
                maxLength={40}
                autoComplete="off"
                spellCheck={false}
                classNames={{ input: 'cb-mono' }}
                {...field('key')}
                onChange={(event) => field('key').onChange(keyOf(event.currentTarget.value))}
              />
              <Select label="Type" data={fieldTypes} allowDeselect={false} {...field('type')} />
            </SimpleGrid>
            <Textarea
              label="What it says"
              placeholder="e.g. The day that was booked, as the caller said it."
              maxLength={questionCharsMax}
              autosize
              {...field('description')}
            />
            {row.type === 'enum' && (
              <TagsInput
                label="Choices"
                description="Press Enter after each."
                splitChars={[]}
                maxTags={50}
                {...field('choices')}
              />
            )}
          </>
        )}
      </Rows>
    </Stack>
  )
}

/** What is typed as a key: an underscore at its end is one that goes on. */
function keyOf(text: string): string {
  const key = idOf(text)
  return /[\s_-]$/.test(text) && key !== '' ? `${key}_`.slice(0, 40) : key
}

function Summary({ draft, onChange, error }: EditorProps) {
  return (
    <Stack>
      <Switch
        label="Write a summary"
        description="For calls whose platform sends none."
        checked={draft.hasSummary}
        onChange={(event) => onChange({ hasSummary: event.currentTarget.checked })}
      />
      {draft.hasSummary && (
        <Textarea
          label="What it should say"
          placeholder="e.g. Two sentences: what the caller wanted, and how it ended."
          maxLength={instructionsCharsMax}
          autosize
          minRows={2}
          {...inputsOf(draft, onChange, (path) => errorAt(error, path))('instructions', 'summary')}
        />
      )}
    </Stack>
  )
}

function Conditions({ draft, onChange, error }: EditorProps) {
  const field = inputsOf(draft, onChange, (path) => errorAt(error, path))
  return (
    <Stack>
      <p className="cb-dimmed">
        Completed calls for which all of this holds are analyzed; others are skipped. What is empty does not
        matter.
      </p>
      <SimpleGrid {...pairs}>
        <NumberInput
          label="Turns of the caller, at least"
          placeholder="Any"
          min={0}
          allowDecimal={false}
          {...field('minUserTurns', 'when.minUserTurns')}
        />
        <NumberInput
          label="Duration in seconds, at least"
          placeholder="Any"
          min={0}
          {...field('minDuration', 'when.minDuration')}
        />
      </SimpleGrid>
      <InUseSelect name="agentId" label="Agents" {...field('agentIds', 'when.agentIds')} />
      <InUseSelect name="source" label="Platforms" {...field('sources', 'when.sources')} />
      <InUseSelect name="endedReason" label="End reasons" {...field('endedReasons', 'when.endedReasons')} />
      <SimpleGrid {...pairs}>
        <NumberInput
          label="Share of these calls"
          description="Chosen by their IDs, so always the same ones. 0% switches analysis off."
          suffix="%"
          min={0}
          max={100}
          decimalScale={2}
          {...field('sharePercent', 'share')}
        />
        <NumberInput
          label="Tokens a month, at most"
          description="By the calendar month in UTC. What does not fit waits, and is done later."
          placeholder="No limit"
          min={0}
          allowDecimal={false}
          thousandSeparator
          {...field('tokensPerMonth')}
        />
      </SimpleGrid>
    </Stack>
  )
}

function ListError({ children }: { children: string | undefined }) {
  return children && <Input.Error role="alert">{children}</Input.Error>
}

interface InUseSelectProps extends FieldProps<string[]> {
  name: 'agentId' | 'source' | 'endedReason'
  label: string
}

/** Chooses values that the project's calls have, or any that is typed. */
function InUseSelect({ name, label, value: values, ...input }: InUseSelectProps) {
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
      data={[
        ...inUse,
        ...others.map((value) => ({ value, label: valueLabel(name, value) })),
        ...(isNew ? [{ value: typed, label: `Add ${typed}` }] : []),
      ]}
      clearButtonProps={{ 'aria-label': `Clear ${label}` }}
      {...input}
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
  /** What the rubric calls the list. */
  path: string
  nameOf: (row: Row) => string
  max: number
  error: unknown
  onChange: (rows: Row[]) => void
  /** Called when rows change their places. */
  onShift: () => void
  create: () => Row
  children: (row: Row, field: ReturnType<typeof inputsOf<Row>>) => ReactNode
}

/** A list of small forms, which can be added to, reordered and removed from by mouse and by keyboard. */
function Rows<Row extends { row: string }>(props: RowsProps<Row>) {
  const { rows, what, path, nameOf, max, error, onChange, onShift, create, children } = props
  const list = useRef<HTMLOListElement>(null)
  const adding = useRef<HTMLButtonElement>(null)
  const [said, setSaid] = useState('')
  const labelOf = (row: Row, at: number) => nameOf(row).trim() || `${what} ${at + 1}`
  const fieldsOf = (row: Row, at: number) =>
    inputsOf(
      row,
      (change: Partial<Row>) => onChange(rows.with(at, { ...row, ...change })),
      (name) => errorAt(error, `${path}.${at}.${name}`),
    )
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
            <Flex
              component="li"
              key={row.row}
              direction={{ base: 'column-reverse', xs: 'row' }}
              gap="xs"
              p="sm"
              bg="var(--cb-surface)"
              className="cb-box"
            >
              <Stack gap="sm" flex={1} miw={0}>
                {children(row, fieldsOf(row, at))}
              </Stack>
              <Flex
                direction={{ base: 'row', xs: 'column' }}
                justify={{ base: 'flex-end', xs: 'flex-start' }}
                gap={4}
                className={classes.rowActions}
              >
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
              </Flex>
            </Flex>
          ))}
        </ol>
      )}
      <TextButton
        icon={IconPlus}
        label={`Add ${what}`}
        ref={adding}
        style={{ alignSelf: 'flex-start' }}
        variant="default"
        size="xs"
        onClick={add}
        disabled={rows.length >= max}
      />
      <ListError>{errorOfList(error, path)}</ListError>
      <span role="status" className="cb-hidden">
        {said}
      </span>
    </>
  )
}
