import { Typography } from '@mantine/core'
import DOMPurify from 'dompurify'
import MarkdownIt from 'markdown-it'
import { useLayoutEffect, useRef } from 'react'

interface MarkdownProps {
  text: string
}

/** A text rendered as Markdown. It is anybody's text: HTML in it is shown, not run, and what is left is purified. */
export default function Markdown({ text }: MarkdownProps) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    place.current?.replaceChildren(DOMPurify.sanitize(toHtml(text), purified))
  }, [text])
  return (
    <Typography w="100%" maw={760}>
      <div ref={place} className="cb-markdown" />
    </Typography>
  )
}

// Nothing that loads from elsewhere, sends anything or looks like the console itself.
const purified = {
  RETURN_DOM_FRAGMENT: true as const,
  FORBID_TAGS: ['img', 'video', 'audio', 'form', 'input', 'button', 'style', 'iframe'],
  FORBID_ATTR: ['style', 'class', 'id'],
  ADD_ATTR: ['target'],
}

function toHtml(text: string): string {
  const markdown = new MarkdownIt({ html: false, linkify: false })
  markdown.renderer.rules.link_open = (tokens, at, options, _environment, self) => {
    tokens[at]?.attrSet('rel', 'noopener noreferrer nofollow')
    tokens[at]?.attrSet('target', '_blank')
    return self.renderToken(tokens, at, options)
  }
  return markdown.render(withFencedFrontMatter(text))
}

/** YAML at the beginning, between two lines of dashes, would be read as a heading. */
function withFencedFrontMatter(text: string): string {
  return text.replace(/^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/, '```yaml\n$1\n```\n\n')
}
