import type { Core } from '../core/core.ts'
import type { Price } from '../db/schema.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { Calls } from './calls.ts'
import { Costs } from './costs/costs.ts'
import { Comparing } from './figures/comparing/comparing.ts'
import { Figures } from './figures/figures.ts'
import { Passes } from './figures/passes.ts'
import { WindowFigures } from './figures/window-figures.ts'
import { WordBacklog } from './finding/word-backlog.ts'
import { CallDeletion } from './keeping/call-deletion.ts'
import { CallSelections } from './keeping/call-selection.ts'
import { CallerAddress } from './keeping/caller-address.ts'
import { Callers } from './keeping/callers.ts'
import { Holds } from './keeping/holds.ts'
import { Retention } from './keeping/retention.ts'
import { Silence } from './keeping/silence.ts'
import { openTextMatcher } from './reading/text-matcher.ts'
import { CallSets } from './review/call-sets.ts'
import { Reviews } from './review/reviews.ts'
import { Ingest } from './writing/ingest.ts'

interface CallsParts {
  erasure: Erasure
  /** What models cost in projects without prices of their own. */
  prices: readonly Price[] | null
}

/** The calls: written, found, read, reviewed, kept. */
export function openCalls(core: Core, { erasure, prices }: CallsParts) {
  const { config, role, linkSecret } = core
  const holds = new Holds(core, { erasure })
  const passes = new Passes(core)
  core.onClose(() => passes.close())
  const figures = new Figures(core, { passes })
  const deletion = new CallDeletion(core)
  const matcher = openTextMatcher()
  core.onClose(() => matcher.close())
  const wordBacklog = new WordBacklog(core)
  // What a command imports is history: people ask for its analysis.
  const analysisDelayMs = role === 'service' ? (config.analysis?.delayMs ?? null) : null
  const ingest = new Ingest(core, { analysisDelayMs, wordBacklog, prices })
  const selections = new CallSelections(core)
  const callers = new Callers(core, { selections, holds, addresses: new CallerAddress(linkSecret) })
  const calls = new Calls(core, { erasure, holds, deletion, callers, matcher, figures })
  const callSets = new CallSets(core)
  core.jobs.addExpiry('call sets', () => callSets.expire())
  const windowFigures = new WindowFigures(core, { figures, passes })
  const reviews = new Reviews(core, { ingest })
  return {
    holds,
    callers,
    deletion,
    textMatcher: matcher,
    wordBacklog,
    ingest,
    calls,
    selections,
    reviews,
    callSets,
    figures,
    comparing: new Comparing(core, { figures }),
    windowFigures,
    costs: new Costs(core, { ingest, prices }),
    silence: new Silence(core, { ingest }),
    retention: new Retention(core, { holds, deletion, erasure }),
  }
}
