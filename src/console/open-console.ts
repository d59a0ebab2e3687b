import type { Core } from '../core/core.ts'
import { ServiceState, type ServiceStateParts } from './operator/service-state.ts'
import { Views } from './views.ts'

/** What only the console shows. */
export function openConsole(core: Core, parts: ServiceStateParts) {
  return { views: new Views(core), serviceState: new ServiceState(core, parts) }
}
