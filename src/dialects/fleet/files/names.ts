/** Names with Fleet's rules: bundles and releases keep their names when a repository moves to Flotilla. */
import { hex, md5, sha256 } from '../../../core/bytes.ts'

const LONGEST = 53
const CUT = 47

/** The name of a bundle or Helm release from a text like `gitrepo/path`. */
export function helmReleaseName(text: string): string {
  const joined = text.replaceAll('/', '-')
  const marked = /[^a-z0-9-]/.test(joined) ? `${joined}-${hex(md5(joined)).slice(0, 8)}` : joined
  const name = marked
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replaceAll(/-+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  if (name === '') return hex(md5(text)).slice(0, 24)
  if (name.length <= LONGEST) return name
  const start = name.slice(0, CUT)
  return `${start}${start.endsWith('-') ? '' : '-'}${hex(md5(name)).slice(0, 5)}`
}

/** Joins parts with `-`, in at most 63 characters. */
export function safeConcatName(...parts: readonly string[]): string {
  const whole = parts.join('-')
  if (whole.length < 64) return whole
  const digest = hex(sha256(whole))
  const isPlain = /[a-z0-9]/.test(whole[56] ?? '')
  return isPlain ? `${whole.slice(0, 57)}-${digest.slice(0, 5)}` : `${whole.slice(0, 56)}-${digest.slice(0, 6)}`
}

/** A path without `.`, `..` and double slashes; a path that leaves the root keeps its leading `..`. */
export function cleanPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else parts.push(part)
  }
  return parts.join('/')
}

/** The name of the bundle of a directory; `options` is the file that replaces its fleet.yaml. */
export function bundleName(gitRepo: string, path: string, options?: string): string {
  const file = options === undefined ? '' : `/${options.replace(/\.[^./]*$/, '')}`
  return helmReleaseName(cleanPath(`${gitRepo}/${path}${file}`) || '.')
}
