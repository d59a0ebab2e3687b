import type { WindowFigures } from '../calls/figures/window-figures.ts'
import type { Core } from '../core/core.ts'
import type { Erasure } from '../erasure/erasure.ts'
import type { Addresses } from '../webhooks/addresses.ts'
import { AlertMessages } from './alert-message.ts'
import { AlertWatch } from './alert-watch.ts'
import { Alerts } from './alerts.ts'
import { Destinations } from './destinations.ts'

const pagerDutyUrlDefault = 'https://events.pagerduty.com/v2/enqueue'

interface Beside {
  figures: WindowFigures
  addresses: Addresses
  erasure: Erasure
  /** Where alerts for PagerDuty go, by default to PagerDuty. */
  pagerDutyUrl?: string | undefined
}

/** Rules that tell somebody when a figure of recent calls crosses a limit. */
export function openAlerts(
  core: Core,
  { figures, addresses, erasure, pagerDutyUrl = pagerDutyUrlDefault }: Beside,
) {
  const messages = new AlertMessages(core, { figures })
  const destinations = new Destinations(core, { addresses, pagerDutyUrl })
  const alerts = new Alerts(core, { figures, destinations, messages, erasure })
  core.jobs.addExpiry('alerts', () => alerts.expire())
  return {
    alerts,
    alertWatch: new AlertWatch(core, { figures, messages }),
  }
}
