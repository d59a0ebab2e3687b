import { Outlet } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'

/** The list of calls; the call that is open is its outlet. */
export function CallsView() {
  return (
    <>
      <PageHeader title="Calls" />
      <Outlet />
    </>
  )
}
