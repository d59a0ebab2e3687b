import { useNow } from '../../components/instant.tsx'
import { useDates } from '../../components/use-dates.ts'
import { type ChosenFilters, type ResolvedFilters, resolveFilters } from './chosen-filters.ts'

/** The filters as the API takes them today. */
export function useResolvedFilters(filters: ChosenFilters): ResolvedFilters {
  return resolveFilters(filters, useDates(), useNow())
}
