// Tested by src/dialects/flux/recorded.contract.test.ts.
/**
 * Which files of a source stay in its artifact: `.sourceignore` files, `spec.ignore` and Flux's default patterns. The
 * rules are those of Flux's git library, which differ from git's: a later pattern can bring back a file below a
 * directory that is left out.
 */
import { toByteText } from '../text/byte-text.ts'
import { compileShellPattern } from '../text/match-pattern.ts'

/** The name of the files that list what a source leaves out. */
const SOURCE_IGNORE = '.sourceignore'

const VERSION_CONTROL = '.git/ .gitignore .gitmodules .gitattributes'.split(' ')
const MEDIA = '*.jpg *.jpeg *.gif *.png *.wmv *.flv *.tar.gz *.zip'.split(' ')
const PIPELINES =
  '.github/ .circleci/ .travis.yml .gitlab-ci.yml appveyor.yml .drone.yml cloudbuild.yaml codeship-services.yml codeship-steps.yml'.split(
    ' ',
  )
const TOOLS = '**/.goreleaser.yml **/.sops.yaml **/.flux.yaml'.split(' ')
const DEFAULTS = [...MEDIA, ...PIPELINES, ...TOOLS]

/** A line of an ignore file. */
interface IgnorePattern {
  /** The directory of the file; the pattern counts below it. */
  readonly domain: readonly string[]
  readonly includes: boolean
  readonly directoriesOnly: boolean
  /** The pattern at its slashes; without a slash it matches the name of a file or directory anywhere. */
  readonly segments: readonly Segment[]
}

/** A part of a pattern; one that is malformed has no test, and a pattern with one matches nothing. */
interface Segment {
  readonly text: string
  readonly matches: ((name: string) => boolean) | undefined
}

/** What decides about the files of a source. */
export interface IgnoreInput {
  /** Paths of all files, with `/`. */
  readonly files: Iterable<string>
  /** The text of a file; asked for `.sourceignore` files only. */
  readonly read: (path: string) => string
  /** `spec.ignore`. */
  readonly ignore?: string
}

/** Says of a path whether the artifact of a GitRepository or OCIRepository leaves it out. */
export function sourceFilter(input: IgnoreInput): (path: string) => boolean {
  const patterns = sourcePatterns(input)
  return matcher([
    ...readPatterns(VERSION_CONTROL.join('\n')),
    ...(patterns.length > 0 ? [] : readPatterns(DEFAULTS.join('\n'))),
    ...patterns,
  ])
}

/** The same with the default patterns always in force, as `flux build` filters a directory. */
export function buildFilter(input: IgnoreInput): (path: string) => boolean {
  return matcher([...readPatterns([...VERSION_CONTROL, ...DEFAULTS].join('\n')), ...sourcePatterns(input)])
}

/** The same for a Bucket: only the file at the root counts, and there are no default patterns. */
export function bucketFilter({ files, read, ignore = '' }: IgnoreInput): (path: string) => boolean {
  const root = [...files].includes(SOURCE_IGNORE) ? readPatterns(read(SOURCE_IGNORE)) : []
  const isIgnored = matcher([...root, ...readPatterns(ignore)])
  return (path) => path === SOURCE_IGNORE || isIgnored(path)
}

/** The number of patterns that a source gives itself. */
export function countPatterns(input: IgnoreInput): number {
  return sourcePatterns(input).length
}

function sourcePatterns({ files, read, ignore = '' }: IgnoreInput): IgnorePattern[] {
  const found = [...files]
    .map((path) => path.split('/'))
    .filter((path) => path.at(-1) === SOURCE_IGNORE && !path.includes('.git'))
    // A directory's own file comes before the files of the directories in it.
    .sort((a, b) => compareDirectories(a.slice(0, -1), b.slice(0, -1)))
  return [...found.flatMap((path) => readPatterns(read(path.join('/')), path.slice(0, -1))), ...readPatterns(ignore)]
}

function compareDirectories(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((name, index) => name !== b[index])
  if (at < 0) return a.length - b.length
  if (at >= b.length) return 1
  return toByteText(a[at]!) < toByteText(b[at]!) ? -1 : 1
}

function readPatterns(text: string, domain: readonly string[] = []): IgnorePattern[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => !line.startsWith('#') && line.trim() !== '')
    .map((line) => readPattern(line, domain))
}

function readPattern(line: string, domain: readonly string[]): IgnorePattern {
  const includes = line.startsWith('!')
  let pattern = includes ? line.slice(1) : line
  if (!pattern.endsWith('\\ ')) pattern = trimSpacesRight(pattern)
  const directoriesOnly = pattern.endsWith('/')
  if (directoriesOnly) pattern = pattern.slice(0, -1)
  return { domain, includes, directoriesOnly, segments: pattern.split('/').map(readSegment) }
}

function readSegment(text: string): Segment {
  return { text, matches: compileShellPattern(toByteText(text)) }
}

function trimSpacesRight(text: string): string {
  let end = text.length
  while (text[end - 1] === ' ') end -= 1
  return text.slice(0, end)
}

/** The names of a path, as they are and as byte texts for patterns. */
interface PathNames {
  readonly names: readonly string[]
  readonly bytes: readonly string[]
}

// The last pattern that matches decides.
function matcher(patterns: readonly IgnorePattern[]): (path: string) => boolean {
  return (path) => {
    const names = path.split('/')
    const split = { names, bytes: names.map(toByteText) }
    const last = patterns.findLast((pattern) => matches(pattern, split))
    return last !== undefined && !last.includes
  }
}

function matches({ domain, segments, directoriesOnly }: IgnorePattern, { names, bytes }: PathNames): boolean {
  if (names.length <= domain.length || domain.some((name, at) => names[at] !== name)) return false
  const below = bytes.slice(domain.length)
  return segments.length === 1
    ? matchesName(segments[0]!, below, directoriesOnly)
    : matchesPath(segments, below, directoriesOnly)
}

// The path is that of a file, so its last name is no directory.
function matchesName(segment: Segment, path: readonly string[], directoriesOnly: boolean): boolean {
  const at = path.findIndex((name) => segment.matches?.(name))
  return at >= 0 && !(directoriesOnly && at === path.length - 1)
}

function matchesPath(segments: readonly Segment[], path: readonly string[], directoriesOnly: boolean): boolean {
  let at = 0
  let matched = false
  let anyDepth = false
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1
    if (segment.text === '') anyDepth = false
    else if (segment.text === '**') {
      if (isLast) break
      anyDepth = true
    } else if (segment.text.includes('**') || at === path.length || !segment.matches) return false
    else if (anyDepth) {
      anyDepth = false
      matched = false
      while (at < path.length && !matched) {
        matched = segment.matches(path[at]!)
        at += 1
      }
    } else {
      if (!segment.matches(path[at]!)) return false
      at += 1
      matched = at < path.length || isLast
    }
  }
  return matched && !(directoriesOnly && at === path.length)
}
