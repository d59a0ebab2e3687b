import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { asBytes } from '../../components/figures.ts'

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

/** The fields of an item's form. */
export function ItemFields({ form }: { form: UseFormReturnType<ItemValues> }) {
  return (
    <Stack gap="sm">
      <TextInput label="Name" required maxLength={400} data-autofocus {...form.getInputProps('name')} />
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
        placeholder={'## Refunds\n\nWe refund any order within 30 days.'}
        {...form.getInputProps('text')}
      />
      <Text size="xs" c="dimmed" className="cb-figure">
        {asBytes(new Blob([form.values.text]).size)}
      </Text>
    </Stack>
  )
}
