import { Button, Skeleton } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { asBytes } from '../../components/figures.ts'
import { JsonTree } from '../../components/json-tree.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { callAnalysisQuery } from '../analysis/analysis-queries.ts'
import classes from './call.module.css'

interface RawCallProps {
  call: Call
  details: CallDetails | undefined
}

/** All that the API has of a call: its thirteen fields, its details, and its analysis. */
export function RawCall({ call, details }: RawCallProps) {
  const { id: project } = useProject()
  const { data: analysis, isPending, error, refetch } = useQuery(callAnalysisQuery(project, call.id))
  const whole = useMemo(() => ({ ...call, details, analysis }), [call, details, analysis])
  const json = useMemo(() => JSON.stringify(whole, null, 2), [whole])
  const download = () => {
    const url = URL.createObjectURL(new Blob([`${json}\n`], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${call.id.replace(/[^A-Za-z0-9._-]/g, '-')}.json`
    link.click()
    URL.revokeObjectURL(url)
  }
  if (isPending) return <Skeleton height={240} />
  return (
    <>
      {error && !analysis && (
        <Problem
          error={error}
          title="The analysis could not be loaded, and is missing here"
          onRetry={() => void refetch()}
        />
      )}
      <div className={classes.rawActions}>
        <CopyButton value={json} label="Copy JSON" withText />
        <Button variant="default" size="xs" leftSection={<IconDownload size={14} />} onClick={download}>
          Download
        </Button>
        <span className="cb-dimmed">{asBytes(new Blob([json]).size)}</span>
      </div>
      <section className={classes.raw} aria-label="The call as JSON">
        <JsonTree value={whole} depth={3} />
      </section>
    </>
  )
}
