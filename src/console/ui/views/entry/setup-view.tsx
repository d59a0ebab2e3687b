import { PageHeader } from '../../components/page-header.tsx'

/** Creating the first owner. */
export function SetupView() {
  return <PageHeader title="Set up Callbook" />
}
