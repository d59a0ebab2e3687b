import { PageHeader } from '../../components/page-header.tsx'

/** One call: its transcript, its analysis, its document. */
export function CallView() {
  return <PageHeader title="Call" />
}
