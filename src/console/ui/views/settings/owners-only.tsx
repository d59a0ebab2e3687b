import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Empty } from '../../components/empty.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useProject } from '../../session.ts'

/** A page for owners. A member sees whom to ask; the service refuses the requests anyway. */
export function OwnersOnly({ title, children }: { title: string; children: ReactNode }) {
  const { role, name } = useProject()
  if (role === 'owner') return <>{children}</>
  return (
    <>
      <PageHeader title={title} />
      <Empty icon={<IconLock size={24} />} title="Only owners can see this">
        You are a {role} of {name}. Only owners can see its keys, people, settings and audit trail.
      </Empty>
    </>
  )
}
