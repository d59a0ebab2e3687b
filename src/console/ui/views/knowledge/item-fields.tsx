import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { KeyboardEvent } from 'react'
import { asBytes } from '../../components/figures.ts'
import { useFocus } from '../../components/use-focus.ts'

/** What people write of an item. */
export interface ItemValues {
  name: string
  description: string
  text: string
}

export const validItem = {
  name: (name: string) => (name.trim() === '' ? 'Enter a name' : null),
  text: (text: string) => (text.trim() === '' ? 'Enter text or drop a file' : null),
}

/** Puts the focus on the first field that has to be corrected. */
export function focusFault(form: UseFormReturnType<ItemValues>, faults: object): void {
  form.getInputNode(Object.keys(faults)[0] ?? '')?.focus()
}

interface ItemFieldsProps {
  form: UseFormReturnType<ItemValues>
  isNew?: boolean
}

/** The fields of an item's form, which Ctrl+Enter in the text submits. */
export function ItemFields({ form, isNew = false }: ItemFieldsProps) {
  const name = useFocus<HTMLInputElement>(isNew)
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit()
  }
  return (
    <Stack gap="sm">
      <TextInput ref={name} label="Name" required maxLength={400} {...form.getInputProps('name')} />
      <TextInput
        label="Description"
        description="For people. Agents do not see it."
        {...form.getInputProps('description')}
      />
      <Textarea
        label="Text"
        required
        description="Markdown. Headings tell agents what each passage is about."
        autosize
        minRows={18}
        maxRows={40}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onKeyDown={onKeyDown}
        placeholder={'## Refunds\n\nWe refund any order within 30 days.'}
        {...form.getInputProps('text')}
      />
      <Text size="xs" c="dimmed" className="cb-figure">
        {asBytes(new Blob([form.values.text]).size)}
      </Text>
    </Stack>
  )
}
