// What `bun test` printed, read by its lines: a file's name, then its tests as `(pass) group > name [3.05ms]`.

/** The line by which a test says why it, or others of its file, are skipped. */
const skipReason = /^Skipped here: (.*)$/
const fileLine = /^(\S+\.test\.ts):$/
const resultLine = /^\((pass|skip|fail|todo)\) (.*?)(?: \[[\d.]+m?s\])?$/
/** What Bun prints at its end, before it lists once more what failed or was skipped. */
const endLine = /^\d+ tests? (?:skipped|failed):$|^ *\d+ pass$/

export interface Result {
  file: string
  name: string
  status: 'pass' | 'skip' | 'fail' | 'todo'
  /** What was printed since the result before it: of a failure, what it saw. */
  printed: string
}

export interface Report {
  results: Result[]
  /** By file, why its tests are skipped. */
  reasons: Map<string, string[]>
}

export function readReport(output: string): Report {
  const results: Result[] = []
  const reasons: Report['reasons'] = new Map()
  // Files that run at once are printed in turns.
  const printed = new Map<string, string>()
  let file = ''
  for (const line of output.split('\n')) {
    if (endLine.test(line)) {
      // The rest has been read. A second run, after a crash, begins with a file again.
      file = ''
      continue
    }
    const [, name] = fileLine.exec(line) ?? []
    const [, reason] = skipReason.exec(line) ?? []
    const [, status, test] = resultLine.exec(line) ?? []
    if (name) {
      file = name
    } else if (reason !== undefined) {
      reasons.set(file, [...new Set(reasons.get(file)).add(reason)])
    } else if (test !== undefined && isStatus(status)) {
      if (file) results.push({ file, name: test, status, printed: printed.get(file)?.trim() ?? '' })
      printed.delete(file)
    } else {
      printed.set(file, `${printed.get(file) ?? ''}${line}\n`)
    }
  }
  return { results, reasons }
}

/** What was skipped and why, a line a reason; nothing if all tests ran. A test that leaves out a part counts as none. */
export function skipsIn({ results, reasons }: Report): string[] {
  const skips = new Map<string, { tests: number; files: Set<string> }>()
  const skipped = results.filter(({ status }) => status === 'skip').map(({ file }) => file)
  for (const file of [...reasons.keys(), ...skipped]) {
    const reason = reasons.get(file)?.join('; ') ?? 'the file does not say why'
    const skip = skips.get(reason) ?? { tests: 0, files: new Set() }
    if (!skip.files.has(file)) skip.tests += skipped.filter((other) => other === file).length
    skip.files.add(file)
    skips.set(reason, skip)
  }
  return [...skips].map(([reason, { tests, files }]) => {
    const places = [...files].sort().join(', ')
    return `Skipped, ${reason}: ${tests === 0 ? 'a part' : tests} of ${places}`
  })
}

function isStatus(value: string | undefined): value is Result['status'] {
  return value === 'pass' || value === 'skip' || value === 'fail' || value === 'todo'
}
