import {
  ActionIcon,
  type ActionIconProps,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
} from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type Attributes<Props> = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Props> & {
  ref?: Ref<HTMLAnchorElement>
}

const AnyPageLink = createLink((props: AnchorProps & Attributes<AnchorProps>) => <Anchor {...props} />)

/** A link to a page of the console, marked as current only on exactly that page. */
export const PageLink = ((props) => (
  <AnyPageLink activeOptions={{ exact: true }} {...props} />
)) as typeof AnyPageLink

/** A link that looks like a button. */
export const PageButton = createLink((props: Omit<ButtonProps, 'component'> & Attributes<ButtonProps>) => (
  <Button component="a" {...props} />
))

/** A link that looks like a button with an icon alone. */
export const PageIcon = createLink(
  (props: Omit<ActionIconProps, 'component'> & Attributes<ActionIconProps>) => (
    <ActionIcon component="a" {...props} />
  ),
)
