import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { CallerRecord } from '../../../../calls/keeping/callers.ts'
import { Panel } from '../../components/panel.tsx'

const files = [
  ['calls.jsonl', 'JSON lines'],
  ['calls.csv', 'CSV'],
] as const

/** Everything that is stored of the person's calls, to hand over. */
export function CallerExport({ caller: { id, calls }, project }: { caller: CallerRecord; project: string }) {
  return (
    <Panel title="Export">
      <div className="cb-stack">
        <p className="cb-dimmed">
          {calls === 0 ? 'There are no calls to export.' : 'All calls from and to this number, to hand over.'}
        </p>
        {calls > 0 && (
          <div className="cb-row">
            {files.map(([file, label]) => (
              <Button
                key={file}
                component="a"
                variant="default"
                leftSection={<IconDownload size={16} />}
                href={`/console/api/projects/${project}/exports/${file}?caller=${id}`}
                download
              >
                {label}
              </Button>
            ))}
          </div>
        )}
      </div>
    </Panel>
  )
}
