import { PageHeader } from '../../components/page-header.tsx'

/** The project's keys. */
export function KeysView() {
  return <PageHeader title="API Keys" />
}
