import { PageHeader } from '../../components/page-header.tsx'

/** One knowledge item: its text, its chunks. */
export function ItemView() {
  return <PageHeader title="Item" />
}
