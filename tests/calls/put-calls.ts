import { asImportLines } from '../../src/calls/reading/forms.ts'
import type { CallChange } from '../../src/calls/schemas.ts'
import type { Services } from '../../src/services/services.ts'

const callsPerBatch = 500

/** Ingests the calls; throws for one that is refused. */
export async function putCalls(
  { ingest }: Pick<Services, 'ingest'>,
  projectId: number,
  changes: Iterable<CallChange & { id: string }>,
): Promise<void> {
  const inputs = [...changes].map((change) => ({ id: change.id, change }))
  for (let start = 0; start < inputs.length; start += callsPerBatch) {
    for (const result of await ingest.putAll(projectId, inputs.slice(start, start + callsPerBatch))) {
      if (result instanceof Error) throw result
    }
  }
}

/** The parts of an export of all calls for an import, oldest first. */
export async function exportParts({ calls }: Pick<Services, 'calls'>, projectId: number): Promise<string[]> {
  const parts: string[] = []
  const search = { conditions: [], order: 'createdAt' } as const
  for await (const part of calls.export(projectId, search, { form: asImportLines }))
    parts.push(Buffer.from(part).toString())
  return parts
}

/** A transcript of one turn of the user for each text. */
export function said(...texts: string[]): CallChange {
  return { transcript: texts.map((content) => ({ role: 'user', content })) }
}

/** So many completed calls, a minute apart, the newest first. */
export function newestFirst<Call extends CallChange & { id: string }>(
  count: number,
  callAt: (at: number) => Call,
) {
  return Array.from({ length: count }, (_, at) => ({
    status: 'completed' as const,
    createdAt: new Date(Date.now() - (at + 1) * 60_000).toISOString(),
    ...callAt(at),
  }))
}
