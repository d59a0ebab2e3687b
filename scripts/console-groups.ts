import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'

const lazyImport = /import\('(\.[^']+)'\)/g
const namespace = 'group'
/** Library modules that the call's page shares with other pages. On its own, each would become a file. */
const lentByLibraries = `
import { getAutoContrastValue, Tabs } from '@mantine/core'
import { useForceUpdate } from '@mantine/hooks'
import { IconCircle, IconCircleCheckFilled, IconLink, IconLock, IconTrash } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
[useForceUpdate, IconCircle, IconCircleCheckFilled, IconLink, IconLock, IconTrash, useLocation, getAutoContrastValue, Tabs].at()`
/** Large components that only some groups use: one file for these groups. */
const fields = `
import { TagsInput, Textarea } from '@mantine/core'
[TagsInput, Textarea].at()`
const withFields = [
  'labels-field',
  'knowledge',
  'label-form',
  'new-key-dialog',
  'playground',
  'questions',
  'settings',
]
/** Components that open above a page, one file with `confirm-dialog.tsx`. The list of calls loads it on demand. */
const overlays = `
import { Drawer, Menu, Modal, Popover, Tooltip } from '@mantine/core'
[Drawer, Menu, Modal, Popover, Tooltip].at()`
const withoutOverlays = ['call', 'calls', 'entry']
/** Components that are not loaded with every page. */
const notShared = ['confirm-dialog.tsx', 'day-field.tsx', 'hints.tsx', 'logo.tsx', 'shown-once.tsx']

/**
 * Bundles pages into few files: all views of a folder become one file, and shared modules become one more. The bundler
 * makes a file for each set of lazy parts that share a module. So each part imports everything shared, which leaves one
 * such set.
 */
export function groupsOfPages(sources: string): BunPlugin {
  const router = join(sources, 'router.tsx')
  const shell = join(sources, 'shell', 'shell.tsx')
  const views = lazyImportsOf(router).filter((file) => file !== shell)
  const others = modulesUnder(sources)
    .filter((file) => file !== router)
    .flatMap(lazyImportsOf)
  const components = modulesUnder(join(sources, 'components')).filter(
    (file) => !others.includes(file) && !notShared.includes(basename(file)),
  )
  // Modules that pages import from one another, or that share an icon with other pages, which would become a file.
  const lent = [
    'calls/call-line.tsx',
    'calls/date-filter.tsx',
    'calls/date-range.ts',
    'calls/list-menus.tsx',
    'calls/no-hits.tsx',
    'calls/pill.tsx',
    'calls/use-call-list.ts',
    'first-steps/first-call.tsx',
    'settings/key-queries.ts',
  ]
  const parts = lent.map((file) => join(sources, 'views', file))
  const shared = [router, shell, ...components, ...parts]
    .map((file) => `import ${JSON.stringify(file)}\n`)
    .concat(`import '${namespace}:lent'\n`)
    .join('')
  const dialog = join(sources, 'components', 'confirm-dialog.tsx')
  const libraries: Record<string, string> = {
    lent: lentByLibraries,
    fields,
    overlays: `import ${JSON.stringify(dialog)}\n${overlays}`,
  }
  const sharedBy = (group: string) =>
    shared +
    (withFields.includes(group) ? `import '${namespace}:fields'\n` : '') +
    (withoutOverlays.includes(group) ? '' : `import '${namespace}:overlays'\n`)
  return {
    name: 'groups-of-pages',
    setup(build) {
      build.onLoad({ filter: /[/\\]router\.tsx$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        const contents = text.replace(lazyImport, (_, target: string) => {
          const file = resolve(dirname(path), target)
          return file === shell ? 'Promise.resolve(shell)' : `import('${namespace}:${groupOf(file)}')`
        })
        // Every page has the shell, except those before sign-in.
        return { contents: `import * as shell from ${JSON.stringify(shell)}\n${contents}`, loader: 'tsx' }
      })
      build.onResolve({ filter: new RegExp(`^${namespace}:`) }, ({ path }) => ({
        path: path.slice(namespace.length + 1),
        namespace,
      }))
      build.onLoad({ filter: /.*/, namespace }, ({ path }) => {
        const library = libraries[path]
        if (library) return { contents: library, loader: 'ts' }
        const files = views.filter((file) => groupOf(file) === path)
        const contents =
          sharedBy(path) + files.map((file) => `export * from ${JSON.stringify(file)}\n`).join('')
        return { contents, loader: 'ts' }
      })
      build.onLoad({ filter: /\.tsx?$/ }, ({ path }) =>
        others.includes(path)
          ? {
              contents: `${readFileSync(path, 'utf8')}\n${sharedBy(basename(path).replace(/\..*/, ''))}`,
              loader: path.endsWith('x') ? 'tsx' : 'ts',
            }
          : undefined,
      )
    },
  }
}

/** `settings` of `…/views/settings/keys-view.tsx`. */
function groupOf(file: string): string {
  // A file of its own, since the list of calls is loaded before a call is opened.
  if (basename(file) === 'call-view.tsx') return 'call'
  return basename(dirname(file))
}

function lazyImportsOf(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(lazyImport)
  return [...new Set([...found].map(([, target = '']) => resolve(dirname(file), target)))]
}

function modulesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
}
