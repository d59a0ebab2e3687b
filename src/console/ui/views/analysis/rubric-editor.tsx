import {
  Checkbox,
  Input,
  NumberInput,
  Radio,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { RubricField } from '../../../../analysis/schemas.ts'
import { Mono } from '../../components/mono.tsx'
import { Panel } from '../../components/panel.tsx'
import classes from './analysis-page.module.css'
import { InUseSelect } from './in-use-select.tsx'
import { Rows } from './rows.tsx'
import {
  type CriterionDraft,
  type FieldDraft,
  idOf,
  idsOf,
  type NumberDraft,
  newCriterion,
  newField,
  type RubricDraft,
} from './rubric-draft.ts'
import { errorAt, errorOfList } from './rubric-errors.ts'

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
    <div className="cb-stack">
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
              label="Question"
              placeholder="e.g. Did the agent repeat the date and the time, and did the caller agree?"
              maxLength={questionCharsMax}
              autosize
              minRows={2}
              value={row.question}
              onChange={(event) => change({ question: event.currentTarget.value })}
              error={errorAt(error, `criteria.${at}.question`)}
            />
            <p className={classes.id}>
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
    </div>
  )
}

function Evaluation({
  draft: { evaluation, deciding, criteria },
  onChange,
  error,
}: Pick<EditorProps, 'draft' | 'onChange' | 'error'>) {
  return (
    <div className="cb-stack">
      <Radio.Group
        label="What makes a call a success"
        description="It fills the evaluation of calls whose platform sends none. A criterion that fails makes it failed; where one is unknown, it stays open."
        value={evaluation}
        onChange={(value) => onChange({ evaluation: value as RubricDraft['evaluation'] })}
      >
        <div className={classes.radios}>
          <Radio value="all" label="All criteria pass" />
          <Radio value="none" label="Nothing: calls are not evaluated" />
          <Radio value="some" label="These criteria pass" />
        </div>
      </Radio.Group>
      {evaluation === 'some' && (
        <Checkbox.Group
          aria-label="Criteria that decide"
          value={deciding}
          onChange={(rows) => onChange({ deciding: rows })}
        >
          <div className={classes.deciding}>
            {criteria.map(({ row, name }, at) => (
              <Checkbox key={row} value={row} label={<bdi>{name.trim() || `Criterion ${at + 1}`}</bdi>} />
            ))}
            {criteria.length === 0 && <p className="cb-dimmed">Add a criterion first.</p>}
          </div>
        </Checkbox.Group>
      )}
      <ListError>{errorAt(error, 'evaluation') && 'Choose at least one criterion.'}</ListError>
    </div>
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
    <div className="cb-stack">
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
            <div className={classes.pair}>
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
            </div>
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
    </div>
  )
}

/** What is typed as a key: an underscore at its end is one that goes on. */
function keyOf(text: string): string {
  const key = idOf(text)
  return /[\s_-]$/.test(text) && key !== '' ? `${key}_`.slice(0, 40) : key
}

function Summary({ draft: { hasSummary, instructions }, onChange, error }: EditorProps) {
  return (
    <div className="cb-stack">
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
    </div>
  )
}

/** What a number field says while it is typed in. */
function numberOf(value: string | number): NumberDraft {
  return typeof value === 'number' ? value : value.trim() === '' ? '' : Number(value)
}

function Conditions({ draft, onChange, error }: EditorProps) {
  return (
    <div className="cb-stack">
      <p className="cb-dimmed">
        Completed calls for which all of this holds are analyzed; others are skipped. What is empty does not
        matter.
      </p>
      <div className={classes.pair}>
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
      </div>
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
      <div className={classes.pair}>
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
      </div>
    </div>
  )
}

function ListError({ children }: { children: string | undefined }) {
  return children && <Input.Error role="alert">{children}</Input.Error>
}
