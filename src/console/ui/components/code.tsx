import { ActionIcon, Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import classes from './code.module.css'

interface CodeBlockProps {
  code: string
  /** The label of the copy button, such as `Copy command`. */
  label?: string
}

/** A few lines of code or one command, to copy. Long lines wrap. */
export function CodeBlock({ code, label = 'Copy' }: CodeBlockProps) {
  return (
    <div className={classes.code}>
      <pre>{code}</pre>
      <CopyButton value={code} label={label} />
    </div>
  )
}

interface MonoProps {
  children: ReactNode
  /** Cuts off with an ellipsis when there is no room. */
  truncate?: boolean
}

/** For ids, keys and phone numbers. */
export function Mono({ children, truncate = false }: MonoProps) {
  return <span className={truncate ? 'cb-mono cb-truncate' : 'cb-mono'}>{children}</span>
}

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
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), saidForMs)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => setIsCopied(await copyOrSay(typeof value === 'function' ? value() : value))
  const said = isCopied ? 'Copied' : label
  const icon = isCopied ? <IconCheck size={14} /> : <IconCopy size={14} />
  return (
    <>
      {withText ? (
        <Button variant="default" size="xs" leftSection={icon} onClick={copy}>
          {said}
        </Button>
      ) : (
        <ActionIcon
          variant="subtle"
          color="gray"
          size={24}
          data-hint={said}
          aria-label={label}
          onClick={copy}
        >
          {icon}
        </ActionIcon>
      )}
      <span role="status" className="cb-hidden">
        {isCopied ? said : ''}
      </span>
    </>
  )
}

/** Copies a text and says so, where no button can. */
export async function copyAndSay(text: string, message: string): Promise<void> {
  if (await copyOrSay(text)) notifications.show({ message })
}

/** Whether the text was copied; says it if not. */
async function copyOrSay(text: string): Promise<boolean> {
  const isDone = await copyText(text)
  if (!isDone)
    notifications.show({
      color: 'red',
      title: 'Could not copy',
      message: 'Select the text and copy it yourself.',
    })
  return isDone
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
