import { PageHeader } from '../../components/page-header.tsx'

/** Who did what, when, from where. */
export function AuditView() {
  return <PageHeader title="Audit trail" />
}
