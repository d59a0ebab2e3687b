import { TypographyStylesProvider } from '@mantine/core'
import DOMPurify from 'dompurify'
import MarkdownIt from 'markdown-it'
import { useMemo } from 'react'

interface MarkdownProps {
  text: string
}

/** A text rendered as Markdown. It is anybody's text: HTML in it is shown, not run, and what is left is purified. */
export default function Markdown({ text }: MarkdownProps) {
  const html = useMemo(() => DOMPurify.sanitize(toHtml(text), purified), [text])
  return (
    <TypographyStylesProvider maw={760}>
      {/* The only place where text becomes HTML. */}
      <div dangerouslySetInnerHTML={{ __html: html }} />
    </TypographyStylesProvider>
  )
}

// Nothing that loads from elsewhere, sends anything or looks like the console itself.
const purified = {
  FORBID_TAGS: ['img', 'video', 'audio', 'form', 'input', 'button', 'style', 'iframe'],
  FORBID_ATTR: ['style', 'class', 'id'],
}

function toHtml(text: string): string {
  const markdown = new MarkdownIt({ html: false, linkify: false })
  markdown.renderer.rules.link_open = (tokens, at, options, _environment, self) => {
    tokens[at]?.attrSet('rel', 'noopener noreferrer nofollow')
    tokens[at]?.attrSet('target', '_blank')
    return self.renderToken(tokens, at, options)
  }
  return markdown.render(text)
}
