import classes from './avatar.module.css'

interface AvatarProps {
  name: string
  /** People are round, projects are not. */
  of?: 'person' | 'project'
  size?: 'small' | 'large'
}

/** The first letter of a name, which screen readers skip. */
export function Avatar({ name, of = 'project', size = 'large' }: AvatarProps) {
  const initial = (Array.from(name.trim())[0] ?? '?').toUpperCase()
  return <span className={classes.avatar} data-initial={initial} data-of={of} data-size={size} />
}
