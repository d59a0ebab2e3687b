import icon from '../icon.svg'

/** The logo: a sound wave on a book cover. */
export function Logo({ size = 24 }: { size?: number }) {
  return <img src={icon} width={size} height={size} alt="Callbook" />
}
