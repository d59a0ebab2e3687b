import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'

/** Opens the dialog of a page that is reached by a link with `?create=…`, and takes that out of the address. */
export function useLinkToCreate(what: 'source' | 'key' | 'webhook', open: () => void): void {
  const isLinked = useSearch({ strict: false }).create === what
  const navigate = useNavigate()
  const openOnce = useEffectEvent(() => {
    void navigate({ to: '.', search: {}, replace: true })
    open()
  })
  useEffect(() => {
    if (isLinked) openOnce()
  }, [isLinked])
}
