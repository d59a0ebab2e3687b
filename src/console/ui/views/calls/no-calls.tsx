import { Button } from '@mantine/core'
import { IconPhone, IconSearchOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Empty } from '../../components/empty.tsx'
import { PageButton } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { useProject, useRefusal } from '../../session.ts'

/** Teaches how the first call gets in. */
export function NoCalls() {
  const project = useProject()
  const isOwner = useRefusal('manage') === null
  const { data: keys } = useQuery({
    queryKey: ['keys', project.id],
    queryFn: ({ signal }) => unwrap(api.projects({ project: project.id }).keys.get({ fetch: { signal } })),
    enabled: isOwner,
  })
  const key = keys?.data.find(({ kind, revokedAt }) => kind === 'ingest' && revokedAt === null)
  return (
    <Empty
      icon={<IconPhone size={24} stroke={1.6} />}
      title="No calls yet"
      action={
        isOwner && (
          <PageButton
            to="/p/$project/settings/keys"
            params={{ project: project.id }}
            search={{ create: 'key' }}
            variant={key ? 'default' : 'filled'}
          >
            {key ? 'Create another ingest key' : 'Create an ingest key'}
          </PageButton>
        )
      }
    >
      <p>
        A platform sends each call while it goes on, or once it has ended.{' '}
        {key ? (
          <>
            Put your ingest key <Mono>{key.hint}</Mono> in place of <Mono>ck_ingest_…</Mono>, run this, and
            the call is here:
          </>
        ) : isOwner ? (
          'Create an ingest key, put it in place of ck_ingest_… and run this:'
        ) : (
          'An owner of this project can create an ingest key for you. With it, run this:'
        )}
      </p>
      <div className="cb-calls-teach">
        <CodeBlock code={firstCall(location.origin)} label="Copy command" />
      </div>
    </Empty>
  )
}

/** Nothing is left of the calls. */
export function NoHits({ onClear }: { onClear: () => void }) {
  return (
    <Empty
      icon={<IconSearchOff size={24} stroke={1.6} />}
      title="No call matches"
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      No call of this project is left by all of these filters together. Take one away, or search for fewer
      words.
    </Empty>
  )
}

function firstCall(origin: string): string {
  return `curl -X PUT ${origin}/ingest/calls/first-call \\
  -H 'Authorization: Bearer ck_ingest_…' \\
  -H 'Content-Type: application/json' \\
  -d '{
    "status": "completed",
    "duration": 42,
    "evaluation": "success",
    "summary": "Asked when the shop opens.",
    "transcript": [
      {"role": "user", "content": "When do you open tomorrow?"},
      {"role": "assistant", "content": "At nine in the morning."}
    ]
  }'`
}
