import { Typography } from '@mantine/core'
import DOMPurify from 'dompurify'
import MarkdownIt from 'markdown-it'
import { useLayoutEffect, useRef } from 'react'
import classes from './knowledge.module.css'

/** A text rendered as Markdown. The text is not trusted: HTML in it is escaped, and the result is sanitized. */
export default function Markdown({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    place.current?.replaceChildren(DOMPurify.sanitize(toHtml(text), purified))
  }, [text])
  return (
    <Typography w="100%" maw={760}>
      <div ref={place} className={classes.markdown} dir="auto" />
    </Typography>
  )
}

// No elements that load from elsewhere, send anything or imitate the console.
const purified = {
  RETURN_DOM_FRAGMENT: true as const,
  FORBID_TAGS: ['img', 'video', 'audio', 'form', 'input', 'button', 'style', 'iframe'],
  FORBID_ATTR: ['style', 'class', 'id'],
  ADD_ATTR: ['target'],
}

function toHtml(text: string): string {
  const markdown = new MarkdownIt({ html: false, linkify: false })
  markdown.renderer.rules.link_open = (tokens, at, options, _environment, self) => {
    const target = String(tokens[at]?.attrGet('href') ?? '')
    // A relative one leads from where the document was written, not from the console.
    if (!/^(https?|mailto|tel):/i.test(target)) return `<a title="${markdown.utils.escapeHtml(target)}">`
    tokens[at]?.attrSet('rel', 'noopener noreferrer nofollow')
    tokens[at]?.attrSet('target', '_blank')
    return self.renderToken(tokens, at, options)
  }
  return markdown.render(withFencedFrontMatter(text))
}

/** YAML front matter between two lines of dashes, which would be read as a heading. */
function withFencedFrontMatter(text: string): string {
  return text.replace(/^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/, '```yaml\n$1\n```\n\n')
}
