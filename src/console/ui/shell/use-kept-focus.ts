import { useEffect } from 'react'

/** By then a closing dialog has returned the focus itself. */
const afterMs = 100

/**
 * When the focused control is removed or disabled, as *Lift* is once a hold is lifted, focuses the closest part of the page
 * that is left. Browsers would start again at the top of the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    const page = document.getElementById('content')
    if (!page) return
    let control: Element | null = null
    let around: HTMLElement[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const remember = ({ target }: FocusEvent) => {
      control = target instanceof Element ? target : null
      around = []
      for (let part = control?.parentElement; part && part !== page; part = part.parentElement)
        around.push(part)
    }
    const keep = () => {
      if (document.activeElement !== document.body || !control) return
      if (control.isConnected && !control.matches(':disabled')) return
      const place = around.find((part) => part.isConnected)
      if (!place) return
      if (!place.hasAttribute('tabindex')) {
        place.setAttribute('tabindex', '-1')
        place.style.outline = 'none'
      }
      place.focus({ preventScroll: true })
    }
    const observer = new MutationObserver(() => {
      clearTimeout(timer)
      timer = setTimeout(keep, afterMs)
    })
    page.addEventListener('focusin', remember)
    observer.observe(page, { subtree: true, childList: true, attributeFilter: ['disabled'] })
    return () => {
      observer.disconnect()
      page.removeEventListener('focusin', remember)
      clearTimeout(timer)
    }
  }, [])
}
