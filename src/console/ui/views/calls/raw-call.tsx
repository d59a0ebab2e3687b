import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMemo } from 'react'
import type { Call } from '../../../../calls/schemas.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { asBytes } from '../../components/figures.ts'
import classes from './call.module.css'

/** Lines that are laid out together, and only when they come near the screen. */
const linesPerBlock = 200

/** The call as the API answers with it. */
export function RawCall({ call }: { call: Call }) {
  const json = useMemo(() => JSON.stringify(call, null, 2), [call])
  const blocks = useMemo(() => blocksOf(json), [json])
  const download = () => {
    const url = URL.createObjectURL(new Blob([`${json}\n`], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${call.id.replace(/[^A-Za-z0-9._-]/g, '-')}.json`
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <>
      <div className={classes.rawActions}>
        <CopyButton value={json} label="Copy JSON" withText />
        <Button variant="default" size="xs" leftSection={<IconDownload size={14} />} onClick={download}>
          Download
        </Button>
        <span className="cb-dimmed">{asBytes(new Blob([json]).size)}</span>
      </div>
      <section className={classes.raw} aria-label="The call as JSON">
        {blocks.map(({ at, text }) => (
          <pre key={at}>{text}</pre>
        ))}
      </section>
    </>
  )
}

function blocksOf(json: string): { at: number; text: string }[] {
  const lines = json.split('\n')
  return Array.from({ length: Math.ceil(lines.length / linesPerBlock) }, (_, at) => ({
    at,
    text: lines.slice(at * linesPerBlock, (at + 1) * linesPerBlock).join('\n'),
  }))
}
