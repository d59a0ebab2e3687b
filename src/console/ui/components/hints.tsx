import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'

const showAfterMs = 300

/**
 * Shows the words of a control, its `data-hint`, while it is pointed at. There is one tooltip for the whole page,
 * because one for each control takes longer to render than the control.
 */
export function Hints() {
  const control = useHintedControl()
  return control && <Hint control={control} />
}

function Hint({ control }: { control: HTMLElement }) {
  const { hint, hintSide } = useDataset(control)
  return (
    <Tooltip
      target={control}
      opened={Boolean(hint)}
      label={hint}
      position={hintSide === 'right' ? 'right' : 'top'}
      multiline
      maw={260}
    />
  )
}

/** The control that is pointed at. A control that is refused says why also when it is touched, or has the focus. */
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
    // What was pointed at before.
    show(hintedOf([...document.querySelectorAll(':hover')].at(-1) ?? null), showAfterMs)
    on('pointerover', ({ target, pointerType }) => {
      const hinted = hintedOf(target)
      show(pointerType === 'touch' && !isRefused(hinted) ? null : hinted, showAfterMs)
    })
    // When the pointer leaves the window.
    on('pointerout', ({ relatedTarget }) => relatedTarget === null && show(null))
    on('focusin', ({ target }) => isRefused(hintedOf(target)) && show(hintedOf(target)))
    on('focusout', () => show(null))
    on('keydown', () => show(null))
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [])
  return control
}

function hintedOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[data-hint]') : null
}

/** See guarded.tsx. */
function isRefused(control: HTMLElement | null): boolean {
  return control?.dataset.disabled !== undefined
}

/** The data attributes of an element, as they change: a button that copied says so. */
function useDataset(element: HTMLElement): DOMStringMap {
  const [dataset, setDataset] = useState<DOMStringMap>({ ...element.dataset })
  useEffect(() => {
    const observer = new MutationObserver(() => setDataset({ ...element.dataset }))
    observer.observe(element, { attributeFilter: ['data-hint'] })
    return () => observer.disconnect()
  }, [element])
  return dataset
}
