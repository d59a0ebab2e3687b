import {
  hashKey,
  partialMatchKey,
  type QueryClient,
  type QueryKey,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, pathOf, read } from './api.ts'
import { neighboursKey, rowsKey } from './views/calls/call-queries.ts'

/** How often the visible data is reloaded, at most. */
const settleMs = 1_000
/** The service sends something at least every ten seconds. */
const silentMsMax = 25_000
/** A shorter interruption is not reported. */
const lostAfterMs = 2_500
const againMs = 3_000

const callEvents = ['call.changed', 'call.deleted']
const knowledgeEvents = ['knowledge.changed', 'knowledge.deleted']

/** Since when the service has not been heard; null while it is. */
type LostSince = Date | null

/**
 * Reloads what is visible when the project changes, as the service tells over one stream per tab. Hidden tabs have no
 * stream, because browsers allow few connections to one host.
 */
export function useChangeFeed(project: string): LostSince {
  const queryClient = useQueryClient()
  const [lostSince, setLostSince] = useState<LostSince>(null)
  useEffect(() => {
    const refresher = createRefresher(queryClient, project)
    let close: (() => void) | null = null
    const follow = () => {
      close?.()
      close = document.hidden ? null : openStream(project, refresher, setLostSince)
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      close?.()
      refresher.stop()
    }
  }, [queryClient, project])
  return lostSince
}

/** @returns a function that closes the stream */
function openStream(project: string, refresher: Refresher, tell: (lostSince: LostSince) => void): () => void {
  let source: EventSource | null = null
  let [again, late, silent] = [0, 0, 0]
  let lastNews = new Date()
  let isFirst = true
  const heard = () => {
    lastNews = new Date()
    clearTimeout(late)
    clearTimeout(silent)
    late = 0
    silent = window.setTimeout(lost, silentMsMax)
    tell(null)
  }
  const lost = () => {
    if (late === 0) late = window.setTimeout(() => tell(lastNews), lostAfterMs)
    // A browser reconnects by itself only if the stream had begun.
    if (source?.readyState !== EventSource.CONNECTING) again = window.setTimeout(connect, againMs)
  }
  const connect = () => {
    clearTimeout(again)
    source?.close()
    source = new EventSource(`/console/api/projects/${project}/changes`)
    source.onerror = lost
    // Changes during the interruption are not sent again.
    source.onopen = () => {
      refresher.caughtUp(isFirst)
      isFirst = false
    }
    source.addEventListener('alive', heard)
    for (const type of [...callEvents, ...knowledgeEvents])
      source.addEventListener(type, (event) => {
        heard()
        refresher.changed(type, event.data)
      })
  }
  connect()
  return () => {
    for (const timer of [again, late, silent]) clearTimeout(timer)
    source?.close()
  }
}

type Call = ReturnType<ReturnType<typeof api.projects>['calls']>

/** What changes with a call. */
function partsOf(call: Call): QueryKey[] {
  return [read(call).queryKey, pathOf(call.details), pathOf(call.analysis)]
}

type Refresher = ReturnType<typeof createRefresher>

/** Collects changes for a while, so that a busy project does not cause constant requests. */
function createRefresher(queryClient: QueryClient, project: string) {
  let dirty = new Map<string, QueryKey>()
  let timer: number | null = null
  const flush = () => {
    const keys = [...dirty.values()]
    timer = keys.length > 0 ? window.setTimeout(flush, settleMs) : null
    dirty = new Map()
    // At once, since one query may be named by several keys.
    const predicate = ({ queryKey }: { queryKey: QueryKey }) =>
      keys.some((key) => partialMatchKey(queryKey, key))
    void queryClient.invalidateQueries({ predicate })
  }
  const add = (keys: QueryKey[], withinMs = 0) => {
    for (const key of keys) dirty.set(hashKey(key), key)
    // The first change is shown at once.
    timer ??= window.setTimeout(flush, withinMs)
  }
  const of = api.projects({ project })
  const lists = [rowsKey(of), neighboursKey(project), pathOf(of['call-sets']), pathOf(of.callers)]
  const charts = [...pathOf(of.metrics), 'charts']
  const items = [[...pathOf(of.knowledge), 'pages'], pathOf(of.overview)]
  return {
    changed(type: string, data: string) {
      if (knowledgeEvents.includes(type)) return add(items)
      const { id }: { id?: string } = JSON.parse(data)
      // The change of a deleted call does not have its id.
      add([...lists, charts, ...(id === undefined ? [pathOf(of.calls)] : partsOf(of.calls({ id })))])
    },
    /** @param isFirst whether the visible data has just been loaded */
    caughtUp(isFirst: boolean) {
      // What failed while the service was away.
      void queryClient.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null })
      // The page that a person waits for goes first.
      if (isFirst) return add(lists, settleMs)
      add([...lists, charts, pathOf(of.calls), ...items])
    },
    stop() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
