import { Fragment, type ReactNode } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { asBytes, asDuration, asMilliseconds } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { useFormatNumber } from '../../components/phone-number.ts'
import { asPhrase } from '../../components/phrase.ts'
import { CallerLink, isWholeNumber } from '../callers/caller-link.tsx'
import classes from './call.module.css'
import { Duration, RunningDuration, Unknown } from './call-line.tsx'
import { CostFact } from './cost-fact.tsx'
import { valueLabel } from './filter-labels.ts'
import { medianParts, partLabels } from './latency.ts'
import { asRedacted } from './redacted-text.tsx'
import { LatencyBar } from './turn-latency.tsx'

/** All that is known about a call besides what was said. */
export function CallFacts({ call, details }: { call: Call; details: CallDetails | undefined }) {
  const isLive = call.status === 'live'
  return (
    <dl className={classes.facts}>
      <Fact label="Duration">
        {isLive ? <RunningDuration since={call.createdAt} /> : <Duration seconds={call.duration} />}
      </Fact>
      <Fact label="Started">
        <Instant at={call.createdAt} as="absolute" />
      </Fact>
      <Fact label="From">
        <PhoneNumber value={call.callerNumber} label="Copy caller’s number" />
      </Fact>
      <Fact label="To">
        <PhoneNumber value={call.calledNumber} label="Copy called number" />
      </Fact>
      {details?.direction && <Fact label="Direction">{directions[details.direction]}</Fact>}
      {details?.agent && (
        <Fact label="Agent">
          <span className="cb-truncate" dir="auto" title={details.agent.id}>
            {details.agent.name || details.agent.id}
          </span>
          {details.agent.version && (
            <span className={`cb-truncate cb-dimmed ${classes.version}`} title={details.agent.version}>
              {details.agent.version}
            </span>
          )}
        </Fact>
      )}
      {details?.source && <Fact label="Source">{valueLabel('source', details.source)}</Fact>}
      <Fact label="End reason">
        {call.endedReason ? (
          asPhrase(call.endedReason)
        ) : (
          <span className="cb-dimmed">{isLive ? 'Not yet' : 'None'}</span>
        )}
      </Fact>
      <Fact label="Engaged">
        {isLive && !call.isEngaged ? <Unknown>Not known yet</Unknown> : call.isEngaged ? 'Yes' : 'No'}
      </Fact>
      {details && <DetailFacts details={details} />}
      <Fact label="Status">{isLive ? 'Live' : 'Completed'}</Fact>
      <Fact label="Last change">
        <Instant at={call.updatedAt} />
      </Fact>
      <Fact label="ID">
        <span className={classes.number}>
          <Mono truncate>{call.id}</Mono>
          <CopyButton value={call.id} label="Copy call id" />
        </span>
      </Fact>
    </dl>
  )
}

/** The facts that the platform says of a call, and what was done with it here. */
function DetailFacts({ details }: { details: CallDetails }) {
  const { costUsd, costParts, usage, latencyMs, timeline, redacted, recording } = details
  const parts = medianParts(timeline)
  return (
    <>
      {(costUsd !== null || costParts || usage) && (
        <Fact label="Cost">
          <CostFact details={details} />
        </Fact>
      )}
      {(latencyMs !== null || parts.length > 0) && (
        <Fact label="Latency">
          <span className={classes.latency} title="Medians of this call's turns">
            {latencyMs !== null && <span className="cb-figure">{asMilliseconds(latencyMs)}</span>}
            <LatencyBar parts={parts} />
            {parts.map(({ part, ms }) => (
              <Fragment key={part}>
                <span className="cb-dimmed">{partLabels[part]}</span>
                <span className="cb-figure">{asMilliseconds(ms)}</span>
              </Fragment>
            ))}
          </span>
        </Fact>
      )}
      {redacted && <Fact label="Redacted">{asRedacted(redacted)}</Fact>}
      {recording.state === 'kept' && (
        <Fact label="Recording">
          {[
            recording.durationSeconds !== null && asDuration(recording.durationSeconds),
            recording.channels === 1 ? 'one channel' : recording.channels && `${recording.channels} channels`,
            recording.bytes !== null && asBytes(recording.bytes),
          ]
            .filter(Boolean)
            .join(', ')}
        </Fact>
      )}
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
  const formatNumber = useFormatNumber()
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
