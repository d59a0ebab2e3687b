import { Button, Input } from '@mantine/core'
import { IconChevronDown, IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import {
  type KeyboardEvent,
  lazy,
  type ReactNode,
  type Ref,
  Suspense,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'
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
  onChange: (change: ReviewChange) => void
}

interface CallReviewProps {
  call: Call
  details: CallDetails
}

interface CallVerdictProps extends CallReviewProps {
  /** Otherwise it takes two. */
  isOnOneLine: boolean
  /** What follows on the line. */
  children?: ReactNode
}

/** People's verdict on a call: their evaluation in place of the platform's, and whether it is reviewed. */
export function CallVerdict({ call, details, isOnOneLine, children }: CallVerdictProps) {
  const { review, analysis } = details
  const { mutate } = useReview(call.id)
  const evaluation = useRef<HTMLButtonElement>(null)
  const isReadOnly = useRefusal('change') !== null
  useKeys(isReadOnly ? {} : { e: () => evaluation.current?.click() })
  const own = review?.evaluation ?? null
  const isReviewed = review?.reviewed ?? own !== null
  return (
    <section className={classes.verdict} aria-label="Review" data-line={isOnOneLine || undefined}>
      {isReadOnly ? (
        <span className={classes.read}>
          Evaluation: <Evaluation value={own ?? call.evaluation} />
        </span>
      ) : (
        <OwnEvaluation evaluation={call.evaluation} own={own} onChange={mutate} buttonRef={evaluation} />
      )}
      <ReviewedButton isReviewed={isReviewed} isReadOnly={isReadOnly} onChange={mutate} />
      {/* Always there, so that an evaluation moves nothing. */}
      <p className={classes.platform}>
        {own !== null && (
          <>
            {analysis.state === 'done' ? 'Automatic' : 'Platform'}: <Evaluation value={call.evaluation} />
          </>
        )}
        {!isReviewed && !isReadOnly && 'Not reviewed yet'}
        {isReviewed && review && (
          <span className="cb-truncate">
            {review.by ? <bdi>{review.by}</bdi> : 'Reviewed'}, <Instant at={review.at} />
          </span>
        )}
      </p>
      {children}
    </section>
  )
}

interface CallWordsProps extends CallReviewProps {
  /** The field that takes the focus when it appears. */
  focus: 'labels' | 'note' | null
}

/** What people write of a call: labels and a note. */
export function CallWords({ call, details: { review }, focus }: CallWordsProps) {
  const { mutate } = useReview(call.id)
  const labels = useRef<HTMLInputElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  const isReadOnly = useRefusal('change') !== null
  useKeys(isReadOnly ? {} : { l: () => labels.current?.focus(), n: () => note.current?.focus() })
  useEffect(() => {
    if (focus === 'note') note.current?.focus()
  }, [focus])
  if (isReadOnly) return <ReadWords review={review} />
  const part = { review, onChange: mutate }
  return (
    <section className={classes.words} aria-label="Written by people">
      <Labels {...part} inputRef={labels} hasFocus={focus === 'labels'} />
      <Note key={call.id} {...part} inputRef={note} />
      <UnsavedNote id={call.id} {...part} />
    </section>
  )
}

/** For viewers, who cannot change them. */
function ReadWords({ review }: { review: Review | null }) {
  const { labels = noLabels, note = null } = review ?? {}
  if (labels.length === 0 && note === null) return null
  return (
    <section className={classes.words} aria-label="Written by people">
      {labels.length > 0 && (
        <ul className={classes.readLabels} aria-label="Labels">
          {labels.map((label) => (
            <li key={label} dir="auto">
              {label}
            </li>
          ))}
        </ul>
      )}
      {note !== null && (
        <p className={classes.readNote} dir="auto">
          {note}
        </p>
      )}
    </section>
  )
}

interface OwnEvaluationProps {
  /** The platform's. */
  evaluation: string | null
  own: string | null
  onChange: PartProps['onChange']
  buttonRef: Ref<HTMLButtonElement>
}

function OwnEvaluation({ evaluation, own, onChange, buttonRef }: OwnEvaluationProps) {
  return (
    <ButtonWithPopup
      kind="menu"
      load={loadMenu}
      button={
        <button ref={buttonRef} type="button" className={classes.evaluation} title="Evaluate (e)">
          <span className="cb-hidden">Evaluation: </span>
          {own === null && evaluation === null ? 'Evaluate' : <Evaluation value={own ?? evaluation} />}
          <IconChevronDown size={14} aria-hidden />
        </button>
      }
    >
      {({ onChange: onOpened, ...popup }) => (
        <EvaluationMenu
          {...popup}
          own={own}
          onOpened={onOpened}
          onChange={(chosen) => onChange({ evaluation: chosen })}
        />
      )}
    </ButtonWithPopup>
  )
}

interface ReviewedButtonProps extends Pick<PartProps, 'onChange'> {
  isReviewed: boolean
  isReadOnly: boolean
}

function ReviewedButton({ isReviewed, isReadOnly, onChange }: ReviewedButtonProps) {
  const icon = isReviewed ? (
    <IconCircleCheckFilled size={14} className={classes.check} />
  ) : (
    <IconCircle size={14} />
  )
  if (isReadOnly) {
    return (
      <span className={`${classes.read} ${classes.reviewed}`}>
        {icon} {isReviewed ? 'Reviewed' : 'Not reviewed'}
      </span>
    )
  }
  return (
    <Button
      variant="default"
      size="xs"
      className={classes.reviewed}
      aria-pressed={isReviewed}
      leftSection={icon}
      onClick={() => onChange({ reviewed: !isReviewed })}
    >
      Reviewed
    </Button>
  )
}

interface LabelsProps extends PartProps {
  inputRef: Ref<HTMLInputElement>
  hasFocus: boolean
}

function Labels({ review, onChange, inputRef, hasFocus }: LabelsProps) {
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
        hasFocus={hasFocus}
        inputRef={inputRef}
        onChange={change}
        onKeyDown={leaveOnEscape}
      />
    </Suspense>
  )
}

function Note({ review, onChange, inputRef }: PartProps & { inputRef: Ref<HTMLTextAreaElement> }) {
  const stored = review?.note ?? ''
  // Null while nobody edits it; then the stored note is shown, including others' changes.
  const [draft, setDraft] = useState<{ text: string; before: string } | null>(null)
  const text = draft?.text ?? stored
  const save = () => {
    const note = draft?.text.trim()
    if (draft && note !== draft.before) onChange({ note: note || null, noteBefore: draft.before || null })
    setDraft(null)
  }
  // The field can go away while somebody writes, as on the way back or in a narrower window.
  const saveAtEnd = useEffectEvent(save)
  useEffect(() => () => saveAtEnd(), [])
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
      dir="auto"
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
            <bdi>{review?.by ?? 'Somebody'}</bdi> changed the review of this call{' '}
            {review && <Instant at={review.at} />} while you wrote.{' '}
          </>
        )}
        Your note is not saved:
      </p>
      <blockquote dir="auto">{note || 'No note'}</blockquote>
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
