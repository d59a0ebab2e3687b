import { Button } from '@mantine/core'
import { IconChartDots } from '@tabler/icons-react'
import { useState } from 'react'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import classes from './analysis.module.css'

/** Deeper values are shown as JSON, because there is no room to indent them further. */
const depthMax = 6
const entriesShown = 100

/** A project's own analysis of a call, verbatim. */
export function Analysis({ analysis }: { analysis: Record<string, unknown> | null }) {
  const { id: project } = useProject()
  if (analysis === null || Object.keys(analysis).length === 0) {
    return (
      <Empty icon={<IconChartDots size={24} stroke={1.6} />} title="No analysis">
        Values that a platform sends as <span className="cb-mono">callAnalysis</span> appear here, key by key.
        A model can also answer your own questions about each call: an owner writes them in{' '}
        <PageLink to="/p/$project/settings/analysis" params={{ project }}>
          Settings, Analysis
        </PageLink>
        .
      </Empty>
    )
  }
  return <Fields fields={Object.entries(analysis)} depth={0} />
}

function Fields({ fields, depth }: { fields: [string, unknown][]; depth: number }) {
  const [shown, setShown] = useState(entriesShown)
  return (
    <>
      <dl className={classes.fields}>
        {fields.slice(0, shown).map(([name, value]) => (
          <div key={name} className={classes.field} data-deep={isDeep(value) || undefined}>
            <dt>{name}</dt>
            <dd>
              <Value value={value} depth={depth} />
            </dd>
          </div>
        ))}
      </dl>
      {fields.length > shown && (
        <Button variant="subtle" size="compact-sm" onClick={() => setShown(shown + entriesShown * 10)}>
          Show more of {asCount(fields.length)}
        </Button>
      )}
    </>
  )
}

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (value === null) return <span className={classes.fieldsNone}>null</span>
  if (typeof value === 'string') {
    return value === '' ? (
      <span className={classes.fieldsNone}>empty</span>
    ) : (
      <span className={classes.fieldsText} dir="auto">
        {value}
      </span>
    )
  }
  if (typeof value !== 'object') return <span className="cb-mono">{String(value)}</span>
  const entries = Object.entries(value)
  if (entries.length === 0) return <span className={classes.fieldsNone}>empty</span>
  if (isWords(value)) return <Words values={value} />
  if (depth >= depthMax) return <pre className={classes.fieldsJson}>{JSON.stringify(value, null, 2)}</pre>
  const named = Array.isArray(value)
    ? entries.map(([at, of]): [string, unknown] => [String(Number(at) + 1), of])
    : entries
  return <Fields fields={named} depth={depth + 1} />
}

/** A list of words or numbers, side by side. */
function Words({ values }: { values: unknown[] }) {
  const shown = values.slice(0, entriesShown)
  return (
    <ul className={classes.fieldsWords}>
      {Object.entries(shown).map(([place, value]) => (
        <li key={place}>{String(value)}</li>
      ))}
      {values.length > shown.length && <li>and {asCount(values.length - shown.length)} more</li>}
    </ul>
  )
}

/** Whether a value is shown below its name, with fields of its own. */
function isDeep(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0 && !isWords(value)
}

function isWords(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.every(isShort)
}

function isShort(value: unknown): boolean {
  return value === null || typeof value === 'number' || typeof value === 'boolean' || isWord(value)
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 48
}
