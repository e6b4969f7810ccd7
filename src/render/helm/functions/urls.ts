/** URLs as Sprig takes them apart and puts them together. */
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { kindOf, plainValue } from '../../gotemplate/value.ts'
import type { HelmProfile } from '../profile.ts'
import { hostnameOf, parseGoUrl, parseGoUser, printGoUrl } from './go/go-url.ts'
import type { UrlRules } from './go/go-url.ts'

function explained<T>(what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof GoError)) throw error
    throw new GoError(`unable to parse ${what}: ${error.message}`)
  }
}

function urlDict(text: string, rules: UrlRules): Map<string, unknown> {
  const url = explained('url', () => parseGoUrl(text, rules))
  return new Map<string, unknown>([
    ['scheme', url.scheme],
    ['host', url.host],
    ['hostname', hostnameOf(url)],
    ['path', url.path],
    ['query', url.query],
    ['opaque', url.opaque],
    ['fragment', url.fragment],
    ['userinfo', url.user ?? ''],
  ])
}

function joinUrl(parts: ReadonlyMap<string, unknown>, rules: UrlRules): string {
  const part = (name: string): string => {
    const value = parts.has(name) ? plainValue(parts.get(name)) : ''
    if (typeof value === 'string') return value
    if (value === null) throw new GoError('runtime error: invalid memory address or nil pointer dereference')
    throw new GoError(`unable to parse ${name} key, must be of type string, but ${kindOf(value)} found`)
  }
  const url = {
    scheme: part('scheme'),
    host: part('host'),
    path: part('path'),
    query: part('query'),
    opaque: part('opaque'),
    fragment: part('fragment'),
  }
  const userinfo = part('userinfo')
  const user = userinfo === '' ? undefined : explained('userinfo in dict', () => parseGoUser(userinfo, rules))
  return printGoUrl({ ...url, user })
}

/** URLs, by the rules of the Go that a Helm was built with. */
export function urlFunctions(profile: HelmProfile): Record<string, GoFunction> {
  const rules = { strictHosts: profile.strictUrlHosts }
  return {
    urlParse: goFunction(['string'], ([text]) => urlDict(text as string, rules)),
    urlJoin: goFunction(['map'], ([parts]) => joinUrl((parts as Map<string, unknown> | null) ?? new Map(), rules)),
  }
}
