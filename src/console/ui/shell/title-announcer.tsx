import { useEffect, useState } from 'react'

/** Says the title of a page that was gone to, since no load of a document does. */
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
