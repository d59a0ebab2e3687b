import { Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { useSettingsChange } from './privacy-queries.ts'
import { SettingPanel } from './setting-panel.tsx'
import classes from './settings.module.css'

type RedactKind = ProjectSettings['redact'][number]

/** The name of each kind, and what replaces it. */
const kinds: [RedactKind, string][] = [
  ['phone', 'Phone numbers'],
  ['email', 'Email addresses'],
  ['card', 'Card numbers'],
  ['iban', 'IBANs'],
  ['ssn', 'US Social Security numbers'],
]

/** What is replaced before anything of a call is written, and how national numbers read. */
export function RedactionPanel({ settings }: { settings: ProjectSettings }) {
  const [redact, setRedact] = useState<string[]>([...settings.redact])
  const [country, setCountry] = useState(settings.country ?? '')
  const { mutate, isPending, error } = useSettingsChange('Redaction saved.')
  const chosen = kinds.flatMap(([kind]) => (redact.includes(kind) ? [kind] : []))
  const isChanged =
    [...settings.redact].sort().join() !== [...chosen].sort().join() ||
    country.trim().toUpperCase() !== (settings.country ?? '')
  return (
    <SettingPanel
      title="Redaction"
      isChanged={isChanged}
      isPending={isPending}
      error={isAboutFields(error, ['country']) ? null : error}
      onSave={() => mutate({ redact: chosen, country: country.trim() || null })}
    >
      <Checkbox.Group
        label="Replace before a call is stored"
        description="Applies to the transcript, the summary, and the text in the analysis, timeline and metadata. Stored calls stay as they are."
        value={redact}
        onChange={setRedact}
      >
        <div className={classes.webhookEvents}>
          {kinds.map(([kind, words]) => (
            <Checkbox
              key={kind}
              value={kind}
              size="xs"
              label={words}
              description={<span className="cb-mono">[{kind}]</span>}
            />
          ))}
        </div>
      </Checkbox.Group>
      <TextInput
        label="Country"
        description="Two letters, such as US. Numbers without a country code are read as numbers from this country."
        value={country}
        onChange={(event) => setCountry(event.currentTarget.value)}
        maxLength={2}
        autoComplete="off"
        error={fieldErrors(error).country}
      />
    </SettingPanel>
  )
}
