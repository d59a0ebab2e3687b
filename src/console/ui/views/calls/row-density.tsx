import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useState } from 'react'
import type { CallRow } from '../../../../calls/call-rows.ts'
import type { Density } from '../../../../calls/density.ts'
import { api, unwrap } from '../../api.ts'
import { DensityStrip } from '../../components/density-strip.tsx'
import { useProject } from '../../session.ts'

/** Calls that one request asks for. */
const callsPerRequest = 50
/** Rows that come on the screen together are asked for together. */
const gatherMs = 20

type Load = (id: string) => Promise<Density | null>

const LoadContext = createContext<Load>(() => Promise.resolve(null))

/** Gives the rows within it their strips. */
export function RowDensities({ children }: { children: ReactNode }) {
  const project = useProject()
  const [load] = useState(() =>
    gathered(async (ids) => {
      const query = { ids: ids.join(';') }
      return await unwrap(api.projects({ project: project.id }).calls.density.get({ query }))
    }),
  )
  return <LoadContext value={load}>{children}</LoadContext>
}

/** Who speaks when in a call of the list. Empty until it is known, in the same room. */
export function RowDensity({ row: { id, updatedAt } }: { row: Pick<CallRow, 'id' | 'updatedAt'> }) {
  const project = useProject()
  const load = useContext(LoadContext)
  const { data } = useQuery({
    // Not among the queries of calls: only a change of this call makes its strip another one.
    queryKey: ['density', project.id, id, updatedAt],
    queryFn: () => load(id),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
  return (
    <span className="cb-row-density">
      {data && data.shares.user + data.shares.assistant > 0 && <DensityStrip density={data} size="small" />}
    </span>
  )
}

function gathered(fetchAll: (ids: string[]) => Promise<Record<string, Density | null>>): Load {
  let next: { ids: Set<string>; answer: ReturnType<typeof fetchAll> } | null = null
  const begin = () => {
    const ids = new Set<string>()
    const answer = new Promise((done) => setTimeout(done, gatherMs)).then(() => {
      if (next?.ids === ids) next = null
      return fetchAll([...ids])
    })
    return { ids, answer }
  }
  return async (id) => {
    if (!next || next.ids.size >= callsPerRequest) next = begin()
    next.ids.add(id)
    return (await next.answer)[id] ?? null
  }
}
