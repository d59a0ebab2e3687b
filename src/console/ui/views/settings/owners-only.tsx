import { IconLock } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Empty } from '../../components/empty.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useProject } from '../../session.ts'

/** A page for owners; a member who follows a link to it learns whom to ask. The service refuses them anyway. */
export function OwnersOnly({ title, children }: { title: string; children: ReactNode }) {
  const { role, name } = useProject()
  if (role === 'owner') return <>{children}</>
  return (
    <>
      <PageHeader title={title} />
      <Empty icon={<IconLock size={24} />} title="For owners">
        You are a member of {name}. Its keys, people and audit trail are for its owners; ask one of them.
      </Empty>
    </>
  )
}
