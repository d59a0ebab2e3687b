import { useEffect, useState } from 'react'

/** Announces the title after navigation to screen readers, since no document is loaded. */
export function TitleAnnouncer() {
  const [title, setTitle] = useState('')
  useEffect(() => {
    const element = document.querySelector('title')
    if (!element) return
    const observer = new MutationObserver(() => setTitle(document.title))
    observer.observe(element, { childList: true })
    return () => observer.disconnect()
  }, [])
  return (
    <div role="status" className="cb-hidden">
      {title}
    </div>
  )
}
