import { Button, Input } from '@mantine/core'
import { IconChevronDown, IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import { type KeyboardEvent, lazy, type Ref, Suspense, useRef, useState } from 'react'
import type { ReviewChange } from '../../../../calls/review/schemas.ts'
import type { Call, CallDetails, Review } from '../../../../calls/schemas.ts'
import { Instant } from '../../components/instant.tsx'
import { loadLater } from '../../components/load-later.ts'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useRefusal } from '../../session.ts'
import classes from './call-review.module.css'
import { Evaluation } from './evaluation.tsx'
import { useReview, useUnsavedNote } from './review-queries.ts'
import { useKeys } from './use-keys.ts'

const noteCharsMax = 10_000
/** For browsers without `field-sizing`, where the field does not grow with its text. */
const noteRowsMax = 12
const labelsAfterMs = 300
const noLabels: string[] = []

const loadMenu = () => import('./evaluation-menu.tsx')
const EvaluationMenu = lazy(loadMenu)
/** Loaded after the call is shown, because it is slow to load and to render. */
const LabelsField = lazy(() => loadLater(() => import('./labels-field.tsx'), labelsAfterMs))

interface PartProps {
  review: Review | null
  isReadOnly: boolean
  onChange: (change: ReviewChange) => void
}

/**
 * People's review of a call: their evaluation in place of the platform's, whether it is reviewed, labels and a note.
 */
export function CallReview({ call, details }: { call: Call; details: CallDetails }) {
  const { review, analysis } = details
  const { mutate } = useReview(call.id)
  const evaluation = useRef<HTMLButtonElement>(null)
  const labels = useRef<HTMLInputElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  const isReadOnly = useRefusal('change') !== null
  useKeys(
    isReadOnly
      ? {}
      : {
          e: () => evaluation.current?.click(),
          l: () => labels.current?.focus(),
          n: () => note.current?.focus(),
        },
  )
  const part = { review, isReadOnly, onChange: mutate }
  return (
    <section className={classes.review} aria-label="Review">
      <div className={classes.line}>
        <OwnEvaluation {...part} call={call} isAnalyzed={analysis.state === 'done'} buttonRef={evaluation} />
        <ReviewedButton {...part} />
      </div>
      <Labels {...part} inputRef={labels} />
      <Note key={call.id} {...part} inputRef={note} />
      <UnsavedNote id={call.id} {...part} />
    </section>
  )
}

function OwnEvaluation({
  call,
  isAnalyzed,
  buttonRef,
  ...part
}: PartProps & { call: Call; isAnalyzed: boolean; buttonRef: Ref<HTMLButtonElement> }) {
  const { review, isReadOnly } = part
  const own = review?.evaluation ?? null
  return (
    <>
      <ButtonWithPopup
        kind="menu"
        load={loadMenu}
        button={
          <button
            ref={buttonRef}
            type="button"
            className={classes.evaluation}
            title="Evaluate (e)"
            disabled={isReadOnly}
          >
            <span className="cb-hidden">Evaluation: </span>
            {own === null && call.evaluation === null ? (
              'Evaluate'
            ) : (
              <Evaluation value={own ?? call.evaluation} />
            )}
            <IconChevronDown size={14} aria-hidden />
          </button>
        }
      >
        {({ onChange: onOpened, ...popup }) => (
          <EvaluationMenu
            {...popup}
            own={own}
            onOpened={onOpened}
            onChange={(evaluation) => part.onChange({ evaluation })}
          />
        )}
      </ButtonWithPopup>
      {own !== null && (
        <span className={classes.platform}>
          {isAnalyzed ? 'Platform or model' : 'Platform'}: <Evaluation value={call.evaluation} />
        </span>
      )}
    </>
  )
}

function ReviewedButton({ review, isReadOnly, onChange }: PartProps) {
  const isReviewed = review?.reviewed ?? (review !== null && review.evaluation !== null)
  return (
    <span className={classes.reviewed}>
      {isReviewed && review && (
        <span className={`cb-dimmed ${classes.by}`}>
          {review.by ? `${review.by}, ` : ''}
          <Instant at={review.at} />
        </span>
      )}
      <Button
        variant="default"
        size="xs"
        aria-pressed={isReviewed}
        disabled={isReadOnly}
        leftSection={
          isReviewed ? (
            <IconCircleCheckFilled size={14} className={classes.check} />
          ) : (
            <IconCircle size={14} />
          )
        }
        onClick={() => onChange({ reviewed: !isReviewed })}
      >
        Reviewed
      </Button>
    </span>
  )
}

function Labels({ review, isReadOnly, onChange, inputRef }: PartProps & { inputRef: Ref<HTMLInputElement> }) {
  const labels = review?.labels ?? noLabels
  const change = (next: string[]) => {
    const added = next.map((label) => label.trim()).filter((label) => label && !labels.includes(label))
    const removed = labels.filter((label) => !next.includes(label))
    if (added.length > 0) onChange({ addLabels: added })
    if (removed.length > 0) onChange({ removeLabels: removed })
  }
  return (
    <Suspense fallback={<div className={classes.labels}>{labels.join(', ') || 'Add labels'}</div>}>
      <LabelsField
        labels={labels}
        isReadOnly={isReadOnly}
        inputRef={inputRef}
        onChange={change}
        onKeyDown={leaveOnEscape}
      />
    </Suspense>
  )
}

function Note({
  review,
  isReadOnly,
  onChange,
  inputRef,
}: PartProps & { inputRef: Ref<HTMLTextAreaElement> }) {
  const stored = review?.note ?? ''
  // Null while nobody edits it; then the stored note is shown, including others' changes.
  const [draft, setDraft] = useState<{ text: string; before: string } | null>(null)
  const text = draft?.text ?? stored
  const save = () => {
    const note = draft?.text.trim()
    if (draft && note !== draft.before) onChange({ note: note || null, noteBefore: draft.before || null })
    setDraft(null)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.blur()
    leaveOnEscape(event)
  }
  return (
    <Input
      component="textarea"
      multiline
      ref={inputRef}
      size="xs"
      className={classes.note}
      aria-label="Note"
      placeholder="Add a note"
      title="Note (n)"
      readOnly={isReadOnly}
      rows={Math.min(noteRowsMax, text.split('\n').length)}
      maxLength={noteCharsMax}
      value={text}
      onChange={(event) => setDraft({ text: event.currentTarget.value, before: draft?.before ?? stored })}
      onBlur={save}
      onKeyDown={onKeyDown}
    />
  )
}

/** The person's own note, below the stored one: two people edited the note at once, or the service did not store it. */
function UnsavedNote({ id, review, onChange }: PartProps & { id: string }) {
  const { unsaved, forget } = useUnsavedNote(id)
  if (unsaved === null) return null
  const { note, hasChanged } = unsaved
  const replace = () => {
    forget()
    onChange({ note: note || null, noteBefore: review?.note ?? null })
  }
  return (
    <div className={classes.unsaved} role="alert">
      <p>
        {hasChanged && (
          <>
            {review?.by ?? 'Somebody'} changed the review of this call {review && <Instant at={review.at} />}{' '}
            while you wrote.{' '}
          </>
        )}
        Your note is not saved:
      </p>
      <blockquote>{note || 'No note'}</blockquote>
      <div className="cb-row">
        <Button size="compact-sm" variant="default" onClick={replace}>
          {hasChanged ? 'Replace theirs with mine' : 'Save again'}
        </Button>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={forget}>
          {hasChanged ? 'Keep theirs' : 'Discard'}
        </Button>
      </div>
    </div>
  )
}

/** The first Escape leaves the field, which keeps what was written; the next one closes the call. */
function leaveOnEscape(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Escape') return
  event.stopPropagation()
  if (event.target instanceof HTMLElement) event.target.blur()
}
