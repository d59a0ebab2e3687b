import { CopyButton } from './copy-button.tsx'

interface CodeBlockProps {
  code: string
  /** The label of the copy button, such as `Copy command`. */
  label?: string
  /** Long lines are broken instead of scrolled. */
  wrap?: boolean
}

/** A few lines of code or one command, to copy. */
export function CodeBlock({ code, label = 'Copy', wrap = false }: CodeBlockProps) {
  return (
    <div className="cb-code">
      <pre className={wrap ? 'cb-code-wrap' : undefined} tabIndex={wrap ? undefined : 0}>
        {code}
      </pre>
      <CopyButton value={code} label={label} />
    </div>
  )
}
