import type { CallQuery } from '../../src/calls/finding/call-query.ts'
import { type CallsOfDay, daysOf } from '../../src/console/ui/views/overview/days.ts'
import type { Services } from '../../src/services/services.ts'

/** The days of the overview, as the console asks for them. @param query `from`, `to` and `timeZone` */
export async function readDays(
  { figures }: Pick<Services, 'figures'>,
  projectId: number,
  query: CallQuery,
): Promise<CallsOfDay[]> {
  const read = async (evaluation: object) =>
    (await figures.readBox(projectId, { timeZone: 'UTC', ...query, by: 'day', ...evaluation })).data
  return daysOf(await read({}), {
    success: await read({ evaluation: 'success' }),
    fail: await read({ evaluation: 'fail' }),
    unevaluated: await read({ evaluation: 'none' }),
  })
}
