import { TextInput } from '@mantine/core'

/** The origins in a text, with commas or white space between them. */
export function originsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** The pages that may use a key in a browser. */
export function AllowedOrigins({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <TextInput
      label="Web pages"
      description="Sites whose pages can use the key in a browser. Anyone who opens such a page can read the key."
      placeholder="https://app.example.com"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      classNames={{ input: 'cb-mono' }}
      autoComplete="off"
      spellCheck={false}
    />
  )
}
