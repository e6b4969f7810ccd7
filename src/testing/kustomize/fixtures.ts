/** Fixtures as text: `=== name`, then `--> file` with its content; `--> (expected)` is what the binary printed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One kustomization and what the real binary makes of it. */
export interface Fixture {
  readonly name: string
  readonly files: ReadonlyMap<string, string>
  /** The output, or the error in its words; directories stand as `DIR`. */
  readonly expected: string | undefined
}

/** The fixture files. */
export const FIXTURE_FILES = ['fields', 'patches']

function pathOf(file: string): string {
  return join(import.meta.dirname, '../../render/kustomize/testdata', `${file}.txt`)
}

/** All fixtures of a file. */
export function readFixtures(file: string): Fixture[] {
  const [, ...blocks] = `\n${readFileSync(pathOf(file), 'utf8').replace(/\n$/, '')}`.split('\n=== ')
  return blocks.map((block) => {
    const [head, ...parts] = block.split('\n--> ')
    const files = new Map<string, string>()
    for (const part of parts) {
      const end = part.indexOf('\n')
      if (end < 0) files.set(part, '')
      else files.set(part.slice(0, end), `${part.slice(end + 1)}\n`.replaceAll('\\r\n', '\r\n'))
    }
    const expected = files.get(EXPECTED)
    files.delete(EXPECTED)
    return { name: head!.trim(), files, expected }
  })
}

const EXPECTED = '(expected)'

/** Writes the fixtures of a file anew, with what the binary printed for each. */
export function writeExpected(file: string, outcomes: ReadonlyMap<string, string>): void {
  const text = readFixtures(file)
    .map(({ name, files }) => {
      const all = new Map([...files].map(([path, content]) => [path, content.replaceAll('\r\n', '\\r\n')]))
      const parts = [...all, [EXPECTED, outcomes.get(name)!] as const]
      return `=== ${name}\n${parts.map(([path, content]) => `--> ${path}\n${content}`).join('')}`
    })
    .join('')
  writeFileSync(pathOf(file), text)
}
