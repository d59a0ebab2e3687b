import type { CallQuery } from '../../src/calls/finding/call-query.ts'
import type { Services } from '../../src/services/services.ts'

/** The calls of a day by their evaluation. */
interface CallsOfDay {
  /** `2026-01-31` */
  day: string
  success: number
  fail: number
  other: number
  unevaluated: number
}

/** The days of the overview, as the console asks for them. @param query `from`, `to` and `timeZone` */
export async function readDays(
  { figures }: Pick<Services, 'figures'>,
  projectId: number,
  query: CallQuery,
): Promise<CallsOfDay[]> {
  const read = async (by: string) =>
    (await figures.readBox(projectId, { timeZone: 'UTC', ...query, by })).data
  const [days, pairs] = await Promise.all([read('day'), read('day,evaluation')])
  return days.map(({ key, calls }) => {
    const callsOf = (evaluation: string) =>
      pairs.find(({ keys }) => keys?.[0] === key && keys?.[1] === evaluation)?.calls ?? 0
    const [success, fail, unevaluated] = [callsOf('success'), callsOf('fail'), callsOf('none')]
    return { day: key ?? '', success, fail, other: calls - success - fail - unevaluated, unevaluated }
  })
}
