import classes from './code-block.module.css'
import { CopyButton } from './copy-button.tsx'

interface CodeBlockProps {
  code: string
  /** The label of the copy button, such as `Copy command`. */
  label?: string
}

/** A few lines of code or one command, to copy. Long lines wrap. */
export function CodeBlock({ code, label = 'Copy' }: CodeBlockProps) {
  return (
    <div className={classes.code}>
      <pre>{code}</pre>
      <CopyButton value={code} label={label} />
    </div>
  )
}
