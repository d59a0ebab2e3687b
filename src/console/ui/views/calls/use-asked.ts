import { useDates } from '../../components/use-dates.ts'
import { useNow } from '../../components/use-now.ts'
import { askedFilters } from './asked-filters.ts'
import type { ChosenFilters } from './chosen-filters.ts'

/** The filters as the API takes them today. */
export function useAsked(filters: ChosenFilters): ChosenFilters {
  return askedFilters(filters, useDates(), useNow())
}
