import { durationBounds } from '../filters.ts'
import type { TimeGroups } from './time-groups.ts'

/** The groups of `by=duration`, named by how many of the bounds are reached. */
export const durationGroups: Pick<TimeGroups, 'in' | 'textOf'> = {
  in: () => [0, ...durationBounds].map((_, reached) => reached),
  textOf: (reached) => String([0, ...durationBounds][reached]),
}
