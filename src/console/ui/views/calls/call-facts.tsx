import type { ReactNode } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { asDollars, asMilliseconds } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { formatNumber } from '../../components/phone-number.ts'
import { asReason } from '../../components/reason.ts'
import { Duration, RunningDuration, Unknown } from './call-line.tsx'
import { Recording } from './recording.tsx'
import { asRedacted, RedactedText } from './redacted-text.tsx'

/** What stands there of every call. */
export const factNames = [
  'Started',
  'Last change',
  'Duration',
  'From',
  'To',
  'Status',
  'Engaged',
  'End reason',
] as const

/** What is known of a call beside what was said. */
export function CallFacts({ call, details }: { call: Call; details: CallDetails | undefined }) {
  return (
    <>
      {call.summary && (
        <p className="cb-call-summary">
          <RedactedText text={call.summary} />
        </p>
      )}
      <dl className="cb-call-facts">
        <Fact label="Started">
          <Instant at={call.createdAt} as="absolute" />
        </Fact>
        <Fact label="Last change">
          <Instant at={call.updatedAt} />
        </Fact>
        <Fact label="Duration">
          {call.status === 'live' ? (
            <RunningDuration since={call.createdAt} />
          ) : (
            <Duration seconds={call.duration} />
          )}
        </Fact>
        <Fact label="From">
          <PhoneNumber value={call.callerNumber} label="Copy caller’s number" />
        </Fact>
        <Fact label="To">
          <PhoneNumber value={call.calledNumber} label="Copy called number" />
        </Fact>
        <Fact label="Status">{call.status === 'live' ? 'Live' : 'Completed'}</Fact>
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
            asReason(call.endedReason)
          ) : (
            <span className="cb-dimmed">{call.status === 'live' ? 'Not yet' : 'None'}</span>
          )}
        </Fact>
        {details && <DetailFacts details={details} />}
        <Fact label="ID">
          <span className="cb-call-number">
            <Mono truncate>{call.id}</Mono>
            <CopyButton value={call.id} label="Copy call id" />
          </span>
        </Fact>
      </dl>
      {details?.recordingUrl && <Recording key={details.recordingUrl} url={details.recordingUrl} />}
    </>
  )
}

/** Those of which there are any. */
function DetailFacts({
  details: { agent, direction, source, costUsd, latencyMs, redacted },
}: {
  details: CallDetails
}) {
  return (
    <>
      {agent && (
        <Fact label="Agent">
          <span className="cb-truncate" title={agent.id}>
            {agent.name || agent.id}
          </span>
        </Fact>
      )}
      {direction && <Fact label="Direction">{directions[direction]}</Fact>}
      {source && <Fact label="Source">{source}</Fact>}
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
    <div className="cb-call-fact">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function PhoneNumber({ value, label }: { value: string | null; label: string }) {
  if (value === null) return <span className="cb-dimmed">Unknown</span>
  return (
    <span className="cb-call-number">
      <span className="cb-figure cb-truncate">{formatNumber(value)}</span>
      <CopyButton value={value} label={label} />
    </span>
  )
}
