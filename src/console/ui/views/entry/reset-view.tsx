import { PageHeader } from '../../components/page-header.tsx'

/** Using a link for a new password. */
export function ResetView() {
  return <PageHeader title="Choose a new password" />
}
