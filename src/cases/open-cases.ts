import type { Core } from '../core/core.ts'
import { Cases } from './cases.ts'

/** Tests that were made of calls. */
export function openCases(core: Core, beside: ConstructorParameters<typeof Cases>[1]) {
  return { cases: new Cases(core, beside) }
}
