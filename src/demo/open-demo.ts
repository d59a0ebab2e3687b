import type { Core } from '../core/core.ts'
import { Demo, type DemoParts } from './demo.ts'

/** The example project. */
export function openDemo(core: Core, parts: DemoParts) {
  return { demo: new Demo(core, parts) }
}
