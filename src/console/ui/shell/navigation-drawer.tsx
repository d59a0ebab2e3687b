import { Drawer } from '@mantine/core'
import type { PopupProps } from '../components/popup.tsx'
import classes from './navigation.module.css'
import { Navigation } from './navigation.tsx'

/** The sidebar on a phone. */
export default function NavigationDrawer({ opened, onChange, target }: PopupProps) {
  const close = () => onChange(false)
  return (
    <>
      {target}
      <Drawer
        opened={opened}
        onClose={close}
        size={272}
        title="Navigation"
        classNames={{ header: 'cb-hidden', body: classes.drawerBody }}
      >
        <Navigation isNarrow={false} onFollow={close} />
      </Drawer>
    </>
  )
}
