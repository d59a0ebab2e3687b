import { Notifications } from '@mantine/notifications'
import { Hints } from './hints.tsx'

/** Where notifications and tooltips are shown. */
export default function Notices() {
  return (
    <>
      <Notifications position="bottom-right" autoClose={5_000} limit={3} />
      <Hints />
    </>
  )
}
