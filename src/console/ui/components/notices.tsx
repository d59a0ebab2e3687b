import { Notifications } from '@mantine/notifications'

/** Where notifications are shown. */
export default function Notices() {
  return <Notifications position="bottom-right" autoClose={5_000} limit={3} />
}
