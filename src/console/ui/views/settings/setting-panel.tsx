import { Button, Group } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'

interface SettingPanelProps {
  title: string
  /** Whether there is anything to save. */
  isChanged: boolean
  isPending: boolean
  /** What no field shows. */
  error: unknown
  onSave: () => void
  /** Below the form. */
  footer?: ReactNode
  children: ReactNode
}

/** A section of Settings with its own form. */
export function SettingPanel({
  title,
  isChanged,
  isPending,
  error,
  onSave,
  footer,
  children,
}: SettingPanelProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isChanged && !isPending) onSave()
  }
  return (
    <Panel title={title}>
      <form onSubmit={submit} className="cb-stack" noValidate>
        {children}
        {Boolean(error) && <Problem error={error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={!isChanged} loading={isPending}>
            Save
          </Button>
        </Group>
      </form>
      {footer}
    </Panel>
  )
}
