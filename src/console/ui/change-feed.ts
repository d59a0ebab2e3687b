import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

/** What is on the screen is asked for anew at most so often. */
const settleMs = 1_000
/** The service says something at least every ten seconds. */
const silentMsMax = 25_000
/** A reconnection that takes no longer than this is not worth telling. */
const lostAfterMs = 2_500
const againMs = 3_000

const callEvents = ['call.changed', 'call.deleted']
const knowledgeEvents = ['knowledge.changed', 'knowledge.deleted']

/** Since when there is no news from the service; null while there is. */
export type LostSince = Date | null

/**
 * Asks anew for what is on the screen when the project has changed, as the service tells over one stream a tab. Tabs out
 * of sight have none: browsers allow few connections to one host.
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

/** @returns what closes it */
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
    // A browser connects again by itself only after a stream that had begun.
    if (source?.readyState !== EventSource.CONNECTING) again = window.setTimeout(connect, againMs)
  }
  const connect = () => {
    clearTimeout(again)
    source?.close()
    source = new EventSource(`/console/api/projects/${project}/changes`)
    source.onerror = lost
    // What changed while nobody listened is not told again.
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

type Refresher = ReturnType<typeof createRefresher>

/** Gathers changes for a while, so that a busy project does not make its readers ask all the time. */
function createRefresher(queryClient: QueryClient, project: string) {
  let dirty = new Map<string, readonly string[]>()
  let timer: number | null = null
  const flush = () => {
    const keys = [...dirty.values()]
    timer = keys.length > 0 ? window.setTimeout(flush, settleMs) : null
    dirty = new Map()
    for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey })
  }
  const add = (keys: (readonly string[])[], withinMs = 0) => {
    for (const key of keys) dirty.set(key.join('\n'), key)
    // The first change is shown at once.
    timer ??= window.setTimeout(flush, withinMs)
  }
  const lists = [['first'], ['live'], ['newest'], ['neighbours']].map((what) => ['calls', project, ...what])
  const allCalls = [['one'], ['details']].map((what) => ['calls', project, ...what])
  return {
    changed(type: string, data: string) {
      if (knowledgeEvents.includes(type)) {
        return add([
          ['knowledge', project, 'items'],
          ['overview', project, 'knowledge'],
        ])
      }
      const { id }: { id?: string } = JSON.parse(data)
      // Of a deleted call nothing tells which one it was.
      const one = id === undefined ? allCalls : allCalls.map((key) => [...key, id])
      add([...lists, ...one, ['overview', project]])
    },
    /** @param isFirst whether what is on the screen was only just asked for */
    caughtUp(isFirst: boolean) {
      // The page that a person waits for goes first.
      if (isFirst) return add(lists, settleMs)
      add([...lists, ...allCalls, ['overview', project], ['knowledge', project, 'items']])
    },
    stop() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
