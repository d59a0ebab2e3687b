import { IconChevronRight } from '@tabler/icons-react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import classes from './call.module.css'
import { CallFacts } from './call-facts.tsx'
import { CallVerdict, CallWords } from './call-review.tsx'
import { personsNumber } from './call-title.ts'
import { CallHolds } from './holds.tsx'
import { MarkedText } from './marked-text.tsx'
import { OtherCalls } from './other-calls.tsx'
import { RetrievalSection } from './retrieval-section.tsx'
import type { Rail } from './use-rail.ts'

interface CallRailProps {
  call: Call
  details: CallDetails | undefined
  rail: Rail
  /** What the transcript's search finds in the summary. */
  summaryRanges: readonly [number, number][]
}

/**
 * What is known of a call, and what people say of it. Beside the conversation all of it is shown; above it the verdict and
 * the summary, and the rest once it is opened.
 */
export function CallRail({ call, details, rail, summaryRanges }: CallRailProps) {
  const { isBeside, isOpen, focus, toggle } = rail
  const number = personsNumber(call, details?.direction)
  return (
    <aside id="call-facts" className={classes.rail} aria-label="Facts">
      {details && (
        <CallVerdict call={call} details={details} isOnOneLine={!isBeside}>
          {!isBeside && (
            <button type="button" className={classes.unfold} aria-expanded={isOpen} onClick={toggle}>
              All details
              <IconChevronRight size={14} aria-hidden />
            </button>
          )}
        </CallVerdict>
      )}
      <CallHolds id={call.id} />
      {call.summary && (
        <p
          className={classes.summary}
          data-whole={isOpen || summaryRanges.length > 0 || undefined}
          dir="auto"
        >
          <MarkedText text={call.summary} ranges={summaryRanges} />
        </p>
      )}
      {isOpen && (
        <>
          {details && <CallWords call={call} details={details} focus={focus} />}
          <RetrievalSection id={call.id} />
          <CallFacts call={call} details={details} />
          {details?.metadata && (
            <section className={classes.railPart} aria-label="Metadata">
              <h3>
                Metadata
                <CopyButton value={() => JSON.stringify(details.metadata, null, 2)} label="Copy metadata" />
              </h3>
              <JsonTree value={details.metadata} depth={2} />
            </section>
          )}
          {number !== null && <OtherCalls id={call.id} number={number} />}
        </>
      )}
    </aside>
  )
}
