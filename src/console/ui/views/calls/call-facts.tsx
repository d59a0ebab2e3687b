import { useLocalStorage } from '@mantine/hooks'
import { IconChevronRight } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { asDollars, asMilliseconds } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { formatNumber } from '../../components/phone-number.ts'
import { asPhrase } from '../../components/phrase.ts'
import { CallerLink, isWholeNumber } from '../callers/caller-link.tsx'
import classes from './call.module.css'
import { Duration, RunningDuration, Unknown } from './call-line.tsx'
import { valueLabel } from './filter-labels.ts'
import { asRedacted, RedactedText } from './redacted-text.tsx'
import { useIsPrinting } from './use-is-printing.ts'

/** The facts that are always shown. */
export const factNames = ['Duration', 'Engaged', 'End reason', 'Agent'] as const

/** What is known about a call besides what was said. */
export function CallFacts({ call, details }: { call: Call; details: CallDetails | undefined }) {
  return (
    <>
      {call.summary && (
        <p className={classes.summary}>
          <RedactedText text={call.summary} />
        </p>
      )}
      <dl className={classes.facts}>
        <Fact label="Duration">
          {call.status === 'live' ? (
            <RunningDuration since={call.createdAt} />
          ) : (
            <Duration seconds={call.duration} />
          )}
        </Fact>
        <Fact label="Engaged">
          {call.status === 'live' && !call.isEngaged ? (
            <Unknown>Not known yet</Unknown>
          ) : call.isEngaged ? (
            'Yes'
          ) : (
            'No'
          )}
        </Fact>
        <Fact label="End reason">
          {call.endedReason ? (
            asPhrase(call.endedReason)
          ) : (
            <span className="cb-dimmed">{call.status === 'live' ? 'Not yet' : 'None'}</span>
          )}
        </Fact>
        {details?.agent && (
          <Fact label="Agent">
            <span className="cb-truncate" title={details.agent.id}>
              {details.agent.name || details.agent.id}
            </span>
          </Fact>
        )}
      </dl>
    </>
  )
}

/** The other facts. Once opened, they are open for every call. */
export function MoreFacts({ call, details }: { call: Call; details: CallDetails | undefined }) {
  const isPrinting = useIsPrinting()
  const [isOpen, setIsOpen] = useLocalStorage({
    key: 'callbook-call-details',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  return (
    <details
      className={classes.folded}
      open={isOpen || isPrinting}
      onToggle={({ currentTarget: { open } }) => {
        if (!isPrinting) setIsOpen(open)
      }}
    >
      <summary className={classes.foldedLine}>
        <IconChevronRight size={14} className={classes.foldedChevron} aria-hidden />
        All details
      </summary>
      <dl className={classes.facts}>
        <Fact label="Started">
          <Instant at={call.createdAt} as="absolute" />
        </Fact>
        <Fact label="Last change">
          <Instant at={call.updatedAt} />
        </Fact>
        <Fact label="Status">{call.status === 'live' ? 'Live' : 'Completed'}</Fact>
        <Fact label="From">
          <PhoneNumber value={call.callerNumber} label="Copy caller’s number" />
        </Fact>
        <Fact label="To">
          <PhoneNumber value={call.calledNumber} label="Copy called number" />
        </Fact>
        {details && <DetailFacts details={details} />}
        <Fact label="ID">
          <span className={classes.number}>
            <Mono truncate>{call.id}</Mono>
            <CopyButton value={call.id} label="Copy call id" />
          </span>
        </Fact>
      </dl>
    </details>
  )
}

/** The facts that the call has. */
function DetailFacts({
  details: { direction, source, costUsd, latencyMs, redacted },
}: {
  details: CallDetails
}) {
  return (
    <>
      {direction && <Fact label="Direction">{directions[direction]}</Fact>}
      {source && <Fact label="Source">{valueLabel('source', source)}</Fact>}
      {costUsd !== null && (
        <Fact label="Cost">
          <span className="cb-figure">{asDollars(costUsd)}</span>
        </Fact>
      )}
      {latencyMs !== null && (
        <Fact label="Latency">
          <span className="cb-figure" title="Median time the agent took to answer">
            {asMilliseconds(latencyMs)}
          </span>
        </Fact>
      )}
      {redacted && <Fact label="Redacted">{asRedacted(redacted)}</Fact>}
    </>
  )
}

const directions = { inbound: 'Inbound', outbound: 'Outbound', web: 'Web' }

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function PhoneNumber({ value, label }: { value: string | null; label: string }) {
  if (value === null) return <span className="cb-dimmed">Unknown</span>
  return (
    <span className={classes.number}>
      <span className="cb-figure cb-truncate">
        {isWholeNumber(value) ? (
          <CallerLink number={value}>{formatNumber(value)}</CallerLink>
        ) : (
          formatNumber(value)
        )}
      </span>
      <CopyButton value={value} label={label} />
    </span>
  )
}
