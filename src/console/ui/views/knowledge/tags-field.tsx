import { Group, MultiSelect, TagsInput, Text } from '@mantine/core'
import { isTag, tagMessage, tagsMax } from '../../../../text/tags.ts'
import { useItems } from './queries.ts'

/** The tags of an item or of a key, in one line. */
export function TagChips({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null
  return (
    <Group component="ul" gap={4} m={0} p={0} aria-label="Tags" style={{ listStyle: 'none' }}>
      {tags.map((tag) => (
        <Text
          key={tag}
          component="li"
          size="xs"
          c="dimmed"
          px={6}
          bd="1px solid var(--mantine-color-default-border)"
          bdrs="sm"
        >
          {tag}
        </Text>
      ))}
    </Group>
  )
}

/** The tags of the project's items, to choose from. */
function useTags(): string[] {
  return useItems().data?.pages[0]?.tags ?? []
}

interface TagsFieldProps {
  label?: string
  description?: string
  value: string[]
  onChange: (tags: string[]) => void
  error?: string | undefined
}

/** Writes tags, new ones too, as tags are written. */
export function TagsField({ onChange, value, error, ...field }: TagsFieldProps) {
  const fault = value.every(isTag) ? error : `A tag ${tagMessage}`
  return (
    <TagsInput
      label="Tags"
      placeholder={value.length > 0 ? undefined : 'billing'}
      clearable
      maxTags={tagsMax}
      splitChars={[',', ' ']}
      data={useTags()}
      value={value}
      onChange={(tags) => onChange(tags.map((tag) => tag.toLowerCase()))}
      {...field}
      {...(fault && { error: fault })}
    />
  )
}

/** Chooses among the tags that there are. */
export function TagsFilter({ value, onChange }: Pick<TagsFieldProps, 'value' | 'onChange'>) {
  const tags = useTags()
  if (tags.length === 0 && value.length === 0) return null
  return (
    <MultiSelect
      aria-label="Tags"
      placeholder={value.length > 0 ? undefined : 'Any tag'}
      size="xs"
      w={300}
      maw="100%"
      searchable
      clearable
      maxValues={tagsMax}
      nothingFoundMessage="No item has this tag"
      data={[...new Set([...tags, ...value])]}
      value={value}
      onChange={onChange}
    />
  )
}
