import { PageHeader } from '../../components/page-header.tsx'

/** What belongs to the person alone: name, password, sessions. */
export function AccountView() {
  return <PageHeader title="Account" />
}
