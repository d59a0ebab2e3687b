import { Tooltip } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { useEffect, useState } from 'react'

const showAfterMs = 300

/** Where notifications and tooltips are shown. */
export default function Notices() {
  return (
    <>
      <Notifications position="bottom-right" autoClose={5_000} limit={3} />
      <Hints />
    </>
  )
}

/** Shows the `data-hint` of the hovered control as a tooltip. One serves the whole page, so that controls render fast. */
function Hints() {
  const control = useHintedControl()
  return control && <Hint control={control} />
}

function Hint({ control }: { control: HTMLElement }) {
  const { hint, side, isOpen } = useHint(control)
  return (
    <Tooltip
      target={control}
      opened={Boolean(hint) && !isOpen}
      label={hint}
      position={side === 'right' ? 'right' : 'top'}
      multiline
      maw={260}
    />
  )
}

/** The hovered control. A disabled control shows its hint, the reason, also on touch and on focus. */
function useHintedControl(): HTMLElement | null {
  const [control, setControl] = useState<HTMLElement | null>(null)
  useEffect(() => {
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let next: HTMLElement | null = null
    const show = (hinted: HTMLElement | null, afterMs = 0) => {
      if (hinted === next) return
      next = hinted
      clearTimeout(timer)
      setControl(null)
      if (hinted) timer = setTimeout(() => setControl(hinted), afterMs)
    }
    const on = <Name extends keyof DocumentEventMap>(
      name: Name,
      act: (event: DocumentEventMap[Name]) => void,
    ) => document.addEventListener(name, act, { signal: ending.signal })
    // The control that is already hovered.
    show(hintedOf([...document.querySelectorAll(':hover')].at(-1) ?? null), showAfterMs)
    on('pointerover', ({ target, pointerType }) => {
      const hinted = hintedOf(target)
      show(pointerType === 'touch' && !isRefused(hinted) ? null : hinted, showAfterMs)
    })
    // When the pointer leaves the window.
    on('pointerout', ({ relatedTarget }) => relatedTarget === null && show(null))
    on('focusin', ({ target }) => isRefused(hintedOf(target)) && show(hintedOf(target)))
    // A control that is only hovered keeps its hint, such as a copy button that takes the focus as it is pressed.
    on('focusout', ({ target }) => hintedOf(target) === next && show(null))
    on('keydown', () => show(null))
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [])
  return control
}

/** Not the button of an open menu, which a hint would cover. */
function hintedOf(target: EventTarget | null): HTMLElement | null {
  const hinted = target instanceof Element ? target.closest<HTMLElement>('[data-hint]') : null
  return hinted?.matches('[aria-haspopup][aria-expanded="true"]') ? null : hinted
}

/** Whether the control is disabled because the person lacks a right: see guarded.tsx. */
function isRefused(control: HTMLElement | null): boolean {
  return control?.dataset.disabled !== undefined
}

/** The hint of an element as it changes: a copy button has another one, `Copied`, and a menu's button none while that is open. */
function useHint(element: HTMLElement) {
  const [hint, setHint] = useState(() => readHint(element))
  useEffect(() => {
    const observer = new MutationObserver(() => setHint(readHint(element)))
    observer.observe(element, { attributeFilter: ['data-hint', 'aria-expanded'] })
    return () => observer.disconnect()
  }, [element])
  return hint
}

function readHint({ dataset: { hint, hintSide }, ariaExpanded }: HTMLElement) {
  return { hint, side: hintSide, isOpen: ariaExpanded === 'true' }
}
