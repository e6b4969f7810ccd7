/** Go's path package (and filepath on a Unix machine), and URLs as Sprig takes them apart. */
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { kindOf, plainValue } from '../../gotemplate/value.ts'

/** path.Clean. */
export function cleanPath(path: string): string {
  if (path === '') return '.'
  const rooted = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (!rooted) parts.push('..')
  }
  return (rooted ? '/' : '') + parts.join('/') || (rooted ? '/' : '.')
}

/** path.Base. */
export function basePath(path: string): string {
  if (path === '') return '.'
  const trimmed = path.replace(/\/+$/, '')
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1)
}

/** path.Dir. */
function directoryOf(path: string): string {
  return cleanPath(path.slice(0, path.lastIndexOf('/') + 1))
}

/** path.Ext. */
function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot)
}

const text1 = (call: (text: string) => unknown) => goFunction(['string'], ([text]) => call(text as string))

/** A URL in Go's parts. */
interface UrlParts {
  readonly scheme: string
  readonly userinfo: string
  readonly host: string
  readonly path: string
  readonly query: string
  readonly opaque: string
  readonly fragment: string
}

/** url.Parse, as far as Sprig shows its result. */
function parseUrl(text: string): UrlParts {
  let rest = text
  const cut = (separator: string): string => {
    const at = rest.indexOf(separator)
    if (at < 0) return ''
    const tail = rest.slice(at + 1)
    rest = rest.slice(0, at)
    return tail
  }
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new GoError(`unable to parse url: parse ${JSON.stringify(text)}: net/url: invalid control character in URL`)
  const fragment = decode(cut('#'))
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(rest)?.[1] ?? ''
  if (scheme !== '') rest = rest.slice(scheme.length + 1)
  else if (rest.startsWith(':'))
    throw new GoError(`unable to parse url: parse ${JSON.stringify(text)}: missing protocol scheme`)
  const query = cut('?')
  const none = { userinfo: '', host: '', path: '', opaque: '' }
  const base = { scheme: scheme.toLowerCase(), query, fragment }
  if (!rest.startsWith('/') && scheme !== '') return { ...none, ...base, opaque: rest }
  if (!rest.startsWith('//')) return { ...none, ...base, path: decode(rest) }
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  const path = slash < 0 ? '' : decode(rest.slice(slash))
  const at = authority.lastIndexOf('@')
  return { ...none, ...base, userinfo: at < 0 ? '' : authority.slice(0, at), host: authority.slice(at + 1), path }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new GoError(`unable to parse url: parse ${JSON.stringify(text)}: invalid URL escape`)
  }
}

function encodePath(path: string): string {
  return encodeURI(path).replaceAll('%5B', '[').replaceAll('%5D', ']').replace(/[?#]/g, encodeURIComponent)
}

function joinUrl(parts: ReadonlyMap<string, unknown>): string {
  const part = (name: string): string => {
    const value = parts.has(name) ? plainValue(parts.get(name)) : ''
    if (typeof value === 'string') return value
    throw new GoError(`unable to parse ${name} key, must be of type string, but ${kindOf(value)} found`)
  }
  const scheme = part('scheme') ? `${part('scheme')}:` : ''
  if (part('opaque')) return scheme + part('opaque') + suffix(part)
  const user = part('userinfo') ? `${part('userinfo')}@` : ''
  const authority = scheme || part('host') || user ? `//${user}${part('host')}` : ''
  const path = encodePath(part('path'))
  const slash = path !== '' && !path.startsWith('/') && part('host') !== '' ? '/' : ''
  return scheme + (part('host') || user || part('path') ? authority : '') + slash + path + suffix(part)
}

function suffix(part: (name: string) => string): string {
  return (part('query') ? `?${part('query')}` : '') + (part('fragment') ? `#${encodeURI(part('fragment'))}` : '')
}

function urlDict(text: string): Map<string, unknown> {
  const url = parseUrl(text)
  const hostname = /^\[(.*)\](?::\d*)?$/.exec(url.host)?.[1] ?? url.host.replace(/:\d*$/, '')
  return new Map<string, unknown>([
    ['scheme', url.scheme],
    ['host', url.host],
    ['hostname', hostname],
    ['path', url.path],
    ['query', url.query],
    ['opaque', url.opaque],
    ['fragment', url.fragment],
    ['userinfo', url.userinfo],
  ])
}

/** Paths and URLs. */
export const PATH_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  base: text1(basePath),
  dir: text1(directoryOf),
  clean: text1(cleanPath),
  ext: text1(extensionOf),
  isAbs: text1((path) => path.startsWith('/')),
  osBase: text1(basePath),
  osDir: text1(directoryOf),
  osClean: text1(cleanPath),
  osExt: text1(extensionOf),
  osIsAbs: text1((path) => path.startsWith('/')),
  urlParse: text1(urlDict),
  urlJoin: goFunction(['map'], ([parts]) => joinUrl((parts as Map<string, unknown> | null) ?? new Map())),
}
