import { Box, Button, Group, Input, Stack } from '@mantine/core'
import {
  type Icon,
  IconChevronDown,
  IconCircle,
  IconCircleCheckFilled,
  IconFlagFilled,
  IconNote,
  IconTag,
  IconX,
} from '@tabler/icons-react'
import {
  type FocusEvent,
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from 'react'
import type { ReviewChange } from '../../../../calls/review/schemas.ts'
import type { Review } from '../../../../calls/schemas.ts'
import { useKeys } from '../../components/events.ts'
import { asCount, asDuration } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { loadLater } from '../../components/load-later.ts'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { Warning } from '../../components/problem.tsx'
import { useRefusal } from '../../session.ts'
import classes from './call-head.module.css'
import { Evaluation } from './call-line.tsx'
import { useCallPage } from './call-page.ts'
import { useReview, useUnsavedNote } from './review-queries.ts'

const noteCharsMax = 10_000
/** For browsers without `field-sizing`, where the field does not grow with its text. */
const noteRowsMin = 3
const noteRowsMax = 12
const flagsShown = 8
const popupsAfterMs = 300

const loadPopups = () => import('./call-popups.tsx')
const EvaluationMenu = lazy(async () => ({ default: (await loadPopups()).EvaluationMenu }))
const LabelsInput = lazy(async () => ({ default: (await loadPopups()).LabelsInput }))

interface CallVerdictProps {
  /** Otherwise it takes two. */
  isOnOneLine: boolean
  /** What follows on the line. */
  children?: ReactNode
}

/** People's verdict on a call: their evaluation in place of the platform's, and whether it is reviewed. */
export function CallVerdict({ isOnOneLine, children }: CallVerdictProps) {
  const { call, details } = useCallPage()
  const { mutate } = useReview(call.id)
  const evaluation = useRef<HTMLButtonElement>(null)
  const isReadOnly = useRefusal('change') !== null
  useKeys(isReadOnly ? {} : { e: () => evaluation.current?.click() })
  if (!details) return null
  const { review, analysis } = details
  const own = review?.evaluation ?? null
  const isReviewed = review?.reviewed ?? own !== null
  const value = own ?? call.evaluation
  // Always there, so that an evaluation moves nothing.
  const platform = (
    <p className={`cb-note ${classes.platform}`}>
      {own !== null && (
        <span className={classes.read}>
          {analysis.state === 'done' ? 'Automatic' : 'Platform'}: <Evaluation value={call.evaluation} />
        </span>
      )}
      {!isOnOneLine &&
        own === null &&
        value !== null &&
        `From the ${analysis.state === 'done' ? 'analysis' : 'platform'}`}
      {isReviewed && review && (
        <span className="cb-truncate">
          {review.by ? <bdi>{review.by}</bdi> : 'Reviewed'}, <Instant at={review.at} />
        </span>
      )}
    </p>
  )
  return (
    <Group
      component="section"
      gap="4px 8px"
      justify="space-between"
      wrap={isOnOneLine ? 'nowrap' : 'wrap'}
      className={classes.verdict}
      data-line={isOnOneLine || undefined}
      aria-label="Review"
    >
      {isReadOnly ? (
        <Group component="span" gap={6} wrap="nowrap" miw={0} className={`cb-dimmed ${classes.read}`}>
          Evaluation: <Evaluation value={value} />
        </Group>
      ) : (
        <ButtonWithPopup
          kind="menu"
          load={loadPopups}
          button={
            <Button
              ref={evaluation}
              variant="default"
              size="xs"
              px={8}
              maw={260}
              rightSection={<IconChevronDown size={14} aria-hidden />}
              data-hint="Evaluate (e)"
            >
              <span className="cb-hidden">Evaluation: </span>
              {value === null ? 'Evaluate' : <Evaluation value={value} />}
            </Button>
          }
        >
          {(popup) => (
            <EvaluationMenu {...popup} own={own} onChoose={(evaluation) => mutate({ evaluation })} />
          )}
        </ButtonWithPopup>
      )}
      {isOnOneLine && platform}
      <Reviewed isReviewed={isReviewed} onChange={isReadOnly ? null : mutate} />
      {!isOnOneLine && platform}
      {children}
    </Group>
  )
}

interface ReviewedProps {
  isReviewed: boolean
  /** Null for viewers. */
  onChange: ((change: ReviewChange) => void) | null
}

function Reviewed({ isReviewed, onChange }: ReviewedProps) {
  const icon = isReviewed ? (
    <IconCircleCheckFilled size={14} color="var(--cb-accent)" />
  ) : (
    <IconCircle size={14} />
  )
  if (!onChange) {
    return (
      <Group component="span" gap={6} wrap="nowrap" flex="none" mih={28} className="cb-dimmed">
        {icon} {isReviewed ? 'Reviewed' : 'Not reviewed'}
      </Group>
    )
  }
  return (
    <Button
      variant="default"
      size="xs"
      flex="none"
      leftSection={icon}
      data-hint={isReviewed ? 'Say that it is not reviewed' : undefined}
      onClick={() => onChange({ reviewed: !isReviewed })}
    >
      {isReviewed ? 'Reviewed' : 'Mark as reviewed'}
    </Button>
  )
}

/** What people wrote of a call, on a line: labels, a note, and the turns that they flagged. */
export function CallNotes() {
  const { call, details, track, places, notes } = useCallPage()
  const { mutate } = useReview(call.id)
  const isReadOnly = useRefusal('change') !== null
  const edit = (field: 'labels' | 'note') => (isReadOnly ? undefined : () => notes.open(field))
  const { labels = [], note = null, flaggedTurns = [] } = details?.review ?? {}
  if (isReadOnly && labels.length === 0 && note === null && flaggedTurns.length === 0) return null
  return (
    <Group component="section" gap="4px 8px" mih={24} my={4} fz={12} aria-label="Written by people">
      {(labels.length > 0 || !isReadOnly) && (
        <Noted icon={IconTag} name="Labels" letter="l" onEdit={edit('labels')}>
          {labels.length === 0 && 'Add labels'}
          {labels.map((label) => (
            <span key={label} className={`cb-truncate ${classes.label}`} dir="auto">
              {`${label} `}
            </span>
          ))}
        </Noted>
      )}
      {flaggedTurns.slice(0, flagsShown).map((turn) => {
        const at = track.isTimed ? track.starts[turn] : undefined
        return (
          <span key={turn} className={classes.flag}>
            <button type="button" title={`Go to turn ${turn + 1}`} onClick={() => places.goTo(turn)}>
              <IconFlagFilled size={12} aria-hidden />
              <span className="cb-hidden">Flagged: </span>
              {at === undefined ? `turn ${turn + 1}` : asDuration(at)}
            </button>
            {!isReadOnly && (
              <button
                type="button"
                aria-label={`Remove the flag of turn ${turn + 1}`}
                onClick={() => mutate({ unflagTurns: [turn] })}
              >
                <IconX size={12} aria-hidden />
              </button>
            )}
          </span>
        )
      })}
      {flaggedTurns.length > flagsShown && <span>and {asCount(flaggedTurns.length - flagsShown)} more</span>}
      {(note !== null || !isReadOnly) && (
        <Noted icon={IconNote} name="Note" letter="n" onEdit={edit('note')}>
          {note === null ? (
            'Add a note'
          ) : (
            <span className={classes.note} dir="auto">
              {note}
            </span>
          )}
        </Noted>
      )}
      <UnsavedNote />
    </Group>
  )
}

interface NotedProps {
  icon: Icon
  name: string
  /** The key that does the same. */
  letter: string
  /** Undefined for viewers. */
  onEdit: (() => void) | undefined
  children: ReactNode
}

function Noted({ icon: Drawn, name, letter, onEdit, children }: NotedProps) {
  const content = (
    <>
      <Drawn size={14} aria-hidden />
      <span className="cb-hidden">{name}: </span>
      {children}
    </>
  )
  if (!onEdit) return <span className={classes.noted}>{content}</span>
  return (
    <button type="button" className={classes.noted} data-hint={`${name} (${letter})`} onClick={onEdit}>
      {content}
    </button>
  )
}

/** The field for labels or the note, over what it changes and in view wherever the call is scrolled to. */
export function NotesFields() {
  const { details, notes } = useCallPage()
  const isReadOnly = useRefusal('change') !== null
  useKeys(isReadOnly ? {} : { l: () => notes.open('labels'), n: () => notes.open('note') })
  // So that the labels can be typed at once.
  useEffect(() => void loadLater(loadPopups, popupsAfterMs), [])
  if (notes.field === null || !details) return null
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    // The first Escape leaves the field, which keeps what was written; the next one closes the call.
    event.stopPropagation()
    notes.close({ isByKey: true })
  }
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent) => {
    // Neither for another window nor for a part of the field.
    if (document.hasFocus() && !currentTarget.contains(relatedTarget)) notes.close()
  }
  return (
    <div className={classes.fields}>
      <fieldset className={classes.field} onKeyDown={onKeyDown} onBlur={onBlur}>
        {notes.field === 'labels' ? (
          <Labels review={details.review} />
        ) : (
          <Note review={details.review} onDone={() => notes.close({ isByKey: true })} />
        )}
      </fieldset>
    </div>
  )
}

function Labels({ review }: { review: Review | null }) {
  const { call } = useCallPage()
  const { mutate } = useReview(call.id)
  // Also what is typed before the field is loaded.
  const [text, setText] = useState('')
  const { labels = [] } = review ?? {}
  const change = (next: string[]) => {
    const added = next.map((label) => label.trim()).filter((label) => label && !labels.includes(label))
    const removed = labels.filter((label) => !next.includes(label))
    if (added.length > 0) mutate({ addLabels: added })
    if (removed.length > 0) mutate({ removeLabels: removed })
  }
  const plain = (
    <Input
      size="xs"
      aria-label="Labels"
      autoFocus
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={({ key }) => {
        if (key !== 'Enter') return
        change([...labels, text])
        setText('')
      }}
    />
  )
  return (
    <Suspense fallback={plain}>
      <LabelsInput labels={labels} text={text} onText={setText} onChange={change} />
    </Suspense>
  )
}

function Note({ review, onDone }: { review: Review | null; onDone: () => void }) {
  const { call } = useCallPage()
  const { mutate } = useReview(call.id)
  const stored = review?.note ?? ''
  // Null while nobody edits it; then the stored note is shown, including others' changes.
  const [draft, setDraft] = useState<{ text: string; before: string } | null>(null)
  const text = draft?.text ?? stored
  // However the field goes away.
  const saveAtEnd = useEffectEvent(() => {
    const note = draft?.text.trim()
    if (draft && note !== draft.before) mutate({ note: note || null, noteBefore: draft.before || null })
  })
  useEffect(() => () => saveAtEnd(), [])
  return (
    <Input
      component="textarea"
      multiline
      size="xs"
      className={classes.noteField}
      aria-label="Note"
      placeholder="Add a note"
      dir="auto"
      autoFocus
      rows={Math.max(noteRowsMin, Math.min(noteRowsMax, text.split('\n').length))}
      maxLength={noteCharsMax}
      value={text}
      onFocus={({ currentTarget }) => currentTarget.setSelectionRange(text.length, text.length)}
      onChange={(event) => setDraft({ text: event.currentTarget.value, before: draft?.before ?? stored })}
      onKeyDown={({ key, metaKey, ctrlKey }) => key === 'Enter' && (metaKey || ctrlKey) && onDone()}
    />
  )
}

/** The person's own note, below the stored one: two people edited the note at once, or the service did not store it. */
function UnsavedNote() {
  const { call, details } = useCallPage()
  const { unsaved, forget } = useUnsavedNote(call.id)
  const { mutate } = useReview(call.id)
  if (unsaved === null) return null
  const { note, hasChanged } = unsaved
  const review = details?.review ?? null
  const replace = () => {
    forget()
    mutate({ note: note || null, noteBefore: review?.note ?? null })
  }
  return (
    <Warning role="alert">
      <Stack gap={8}>
        <p>
          {hasChanged && (
            <>
              <bdi>{review?.by ?? 'Somebody'}</bdi> changed the review of this call{' '}
              {review && <Instant at={review.at} />} while you wrote.{' '}
            </>
          )}
          Your note is not saved:
        </p>
        <Box
          component="blockquote"
          m={0}
          pl="sm"
          mah={240}
          bd="0 solid var(--cb-warning)"
          style={{ borderLeftWidth: 2, overflow: 'auto', overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
          dir="auto"
        >
          {note || 'No note'}
        </Box>
        <Group gap={8}>
          <Button size="compact-sm" variant="default" onClick={replace}>
            {hasChanged ? 'Replace theirs with mine' : 'Save again'}
          </Button>
          <Button size="compact-sm" variant="subtle" color="gray" onClick={forget}>
            {hasChanged ? 'Keep theirs' : 'Discard'}
          </Button>
        </Group>
      </Stack>
    </Warning>
  )
}
