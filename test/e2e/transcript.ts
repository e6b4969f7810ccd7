/**
 * A tour of the CLI as text: commands and all they print, with what differs from run to run masked.
 *
 *     # a comment for the reader
 *     $ command                 runs it; the indented lines after it are its output, `[exit N]` last when N is not 0
 *     ? command ~ pattern       runs it until it printed the pattern
 */

/** One line of a tour that does something, or says something to its reader. */
export type TourStep =
  | { readonly kind: 'Run'; readonly command: string }
  | { readonly kind: 'Until'; readonly command: string; readonly pattern: RegExp }
  | { readonly kind: 'Say'; readonly text: string }

/** What a tour does: its commands, waits and comments; recorded outputs are indented and left out. */
export function tourSteps(text: string): readonly TourStep[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((line): TourStep[] => {
      if (line.startsWith('$ ')) return [{ kind: 'Run', command: line.slice(2) }]
      if (line === '' || line.startsWith('#')) return [{ kind: 'Say', text: line }]
      if (!line.startsWith('? ')) return []
      const [command = '', pattern = ''] = line.slice(2).split(' ~ ')
      return [{ kind: 'Until', command, pattern: new RegExp(pattern) }]
    })
}

/** How a command ended. */
export interface Printed {
  /** Both streams, as a terminal shows them. */
  readonly text: string
  readonly code: number
}

/** A command and what it printed, as the tour shows it. */
export function recorded(command: string, { text, code }: Printed, mask: (text: string) => string): string {
  const masked = mask(text.replace(/^using the demo of process .*\n/m, '')).trimEnd()
  // An empty line of an output keeps its indentation: one without it belongs to the tour.
  const shown = masked === '' ? [] : masked.split('\n').map((line) => `    ${line}`)
  return [`$ ${command}`, ...shown, ...(code === 0 ? [] : [`    [exit ${code}]`])].join('\n')
}

/** Masks times, ages, addresses, digests, names that are drawn, and the folders given by name. */
export function maskOf(folders: Readonly<Record<string, string>>): (text: string) => string {
  return (text) => {
    let masked = text
    for (const [name, folder] of Object.entries(folders)) masked = masked.replaceAll(folder, name)
    return masked
      .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, 'TIME')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
      .replaceAll(/(sha1:|sha256:)[0-9a-f]{7,64}/g, '$1DIGEST')
      .replaceAll(/\bflotilla1\.\S+/g, 'CODE')
      .replaceAll(/(?<=--continue )\S+/g, 'CODE')
      .replaceAll(/(?<=[(@])[0-9a-f]{7}(?=\)| )/g, 'COMMIT')
      .replaceAll(/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g, 'COMMIT')
      .replaceAll(/\b\d+(?= (?:blobs|objects|records|audit records)\b)|(?<=\brevision )\d+/g, 'N')
      .replaceAll(/(?<=ReplicaSet "shop-)[a-zA-Z0-9]+/g, 'HASH')
      .replaceAll(/^\d+(?= {2,}TIME)/gm, 'N')
      .replaceAll(/(-early-)[a-z0-9]{5}\b/g, '$1RANDOM')
      .replaceAll(/(store-\d\d-)[a-z0-9]{5}\b/g, '$1RANDOM')
      .replaceAll(/\b\d+(\.\d+)?(y|d|h|m|s|ms)(\d+[dhms])*\b/g, 'AGE')
      .replaceAll(/\b\d+(\.\d+)? (s|ms|KB|B|bytes)\b/g, 'SOME $2')
      .replaceAll(/(the database has) [\d.]+ \w+, [\d.]+ \w+ free/g, '$1 SIZE, SIZE free')
      .replaceAll(/(the clock of the hub) .*(?= the clock of this machine)/g, '$1 …')
      .replaceAll(/(?<=\S) {2,}(?=\S)/g, '   ')
  }
}

const PROGRAM = 'bin/flotilla'

/**
 * Every command that an output tells a person to run: `bin/flotilla …` up to where the sentence goes on; not those with
 * blanks to fill in.
 */
export function hintsIn(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const hints = line.split(/(?<=^|[\s`'"(])(?=bin\/flotilla [a-z])/).slice(line.startsWith(`${PROGRAM} `) ? 0 : 1)
    return hints
      .map((rest) => rest.split(/ {2,}|`|"(?!\w)|; |, | \(|\)|\.(?=\s|$)/)[0]!.trim())
      .filter((command) => !/\b[A-Z]{3,}\b|…|<|\[|~\//.test(command))
  })
}

/** The words of a command line, for a run without a shell; quotes keep words together. */
export function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  )
}
