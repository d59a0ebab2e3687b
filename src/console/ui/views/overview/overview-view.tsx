import { PageHeader } from '../../components/page-header.tsx'

/** What the agents did in a period, in figures and charts. */
export function OverviewView() {
  return <PageHeader title="Overview" />
}
