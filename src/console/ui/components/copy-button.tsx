import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useState } from 'react'

const saidForMs = 1_500

interface CopyButtonProps {
  value: string | (() => string)
  /** Such as `Copy call id`. */
  label: string
  /** Shows the label beside the icon. */
  withText?: boolean
}

/** Copies a text and shows whether that worked. */
export function CopyButton({ value, label, withText = false }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'none' | 'copied' | 'failed'>('none')
  useEffect(() => {
    if (outcome === 'none') return
    const timer = setTimeout(() => setOutcome('none'), saidForMs)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async () => {
    setOutcome((await copyText(typeof value === 'function' ? value() : value)) ? 'copied' : 'failed')
  }
  const said = {
    none: label,
    copied: 'Copied',
    failed: 'Could not copy. Select the text and copy it yourself',
  }[outcome]
  const icon = outcome === 'copied' ? <IconCheck size={14} /> : <IconCopy size={14} />
  const live = (
    <span role="status" className="cb-hidden">
      {outcome === 'none' ? '' : said}
    </span>
  )
  if (withText) {
    return (
      <>
        <Button variant="default" size="xs" leftSection={icon} onClick={copy}>
          {said}
        </Button>
        {live}
      </>
    )
  }
  return (
    <>
      <Tooltip label={said} opened={outcome === 'none' ? undefined : true}>
        <ActionIcon variant="subtle" color="gray" size={24} aria-label={label} onClick={copy}>
          {icon}
        </ActionIcon>
      </Tooltip>
      {live}
    </>
  )
}

/** Whether the text was copied. Browsers offer the clipboard API only on https and localhost. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The older way, for a service on plain http. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const focused = document.activeElement
  // Inside the open dialog, if any: it would take the focus back from an element outside.
  const place = focused?.closest('[role="dialog"]') ?? document.body
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
