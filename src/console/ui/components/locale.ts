/** The locale of the person's browser or system. */
const personsLocale = new Intl.DateTimeFormat().resolvedOptions().locale

/**
 * The English of a region, such as `en-DE`; British if the browser does not have it. The pages are in English, with the
 * date order, clock and separators of the person's region.
 */
export function localeOf(persons = personsLocale): string {
  const { region = 'US' } = new Intl.Locale(persons).maximize()
  const own = `en-${region}`
  return new Intl.NumberFormat(own).resolvedOptions().locale === own ? own : 'en-GB'
}

type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** 0 is Sunday; Monday where the browser does not know. */
export function firstDayOfWeek(of = personsLocale): Weekday {
  const known = new Intl.Locale(of) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number }
    weekInfo?: { firstDay: number }
  }
  const first = (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? 1
  return (first % 7) as Weekday
}
