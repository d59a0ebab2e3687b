import { Button, Group, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { useOpenCaller } from '../callers/use-open-caller.ts'

/** Opens the page of a person, where their calls are exported, held and erased. */
export function ErasePanel() {
  const { id: project } = useProject()
  const [number, setNumber] = useState('')
  const { mutate, isPending, error } = useOpenCaller()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (number.trim() !== '' && !isPending) mutate(number.trim())
  }
  return (
    <Panel
      title="A person’s data"
      aside={
        <PageLink to="/p/$project/settings/privacy/receipts" params={{ project }}>
          Erasure receipts
        </PageLink>
      }
    >
      <form onSubmit={submit} className="cb-stack" noValidate>
        <TextInput
          label="Phone number"
          description="The full number. You see all calls from it and to it, and can export them, put them on hold or erase them."
          value={number}
          onChange={(event) => setNumber(event.currentTarget.value)}
          type="tel"
          autoComplete="off"
          error={fieldErrors(error).number}
        />
        {error && !isAboutFields(error, ['number']) && <Problem error={error} />}
        <Group justify="flex-end">
          <Button type="submit" variant="default" disabled={number.trim() === ''} loading={isPending}>
            Open the person
          </Button>
        </Group>
      </form>
    </Panel>
  )
}
