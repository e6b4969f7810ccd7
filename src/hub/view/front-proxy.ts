/** Requests that a kube-apiserver passes on: its certificate proves the proxy, its headers say who asks. */
import { compact } from '../../core/compact.ts'
import type { Caller } from '../../core/http.ts'

/** How a kube-apiserver passes requests on; it publishes this itself. */
export interface FrontProxy {
  /** PEM of who issues the proxy's certificates. */
  readonly clientCa: string
  /** Common names that are the proxy; empty: all that the CA issued. */
  readonly names: readonly string[]
  readonly userHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
}

/** Where every kube-apiserver with an aggregation layer publishes it. */
export const FRONT_PROXY_CONFIG = { namespace: 'kube-system', name: 'extension-apiserver-authentication' } as const

/** Reads what is published; undefined when the kube-apiserver passes nothing on. */
export function readFrontProxy(data: Readonly<Record<string, string>>): FrontProxy | undefined {
  const clientCa = data['requestheader-client-ca-file']
  if (!clientCa) return undefined
  const listAt = (field: string): readonly string[] => {
    const value: unknown = JSON.parse(data[`requestheader-${field}`] ?? '[]')
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  }
  const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase())
  return {
    clientCa,
    names: listAt('allowed-names'),
    userHeaders: lower(listAt('username-headers')),
    uidHeaders: lower(listAt('uid-headers')),
    groupHeaders: lower(listAt('group-headers')),
    extraPrefixes: lower(listAt('extra-headers-prefix')),
  }
}

/** The user that the proxy forwards; undefined if the caller is not the proxy, or names no user. */
export function frontProxyCaller(
  proxy: FrontProxy,
  proven: Caller | undefined,
  headers: readonly string[],
): Caller | undefined {
  if (!proven || (proxy.names.length > 0 && !proxy.names.includes(proven.user))) return undefined
  const valuesOf = (names: readonly string[]) => names.flatMap((name) => headerValues(headers, name))
  const user = valuesOf(proxy.userHeaders).find((value) => value !== '')
  if (user === undefined) return undefined
  const uid = valuesOf(proxy.uidHeaders).find((value) => value !== '')
  const extra = extraOf(proxy.extraPrefixes, headers)
  return compact({
    user,
    groups: [...new Set([...valuesOf(proxy.groupHeaders), 'system:authenticated'])],
    uid,
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  })
}

// Header lines stay apart: joined with commas, a group with a comma in its name would become two.
function headerValues(headers: readonly string[], name: string): string[] {
  return headers.filter((_value, index) => index % 2 === 1 && headers[index - 1]!.toLowerCase() === name)
}

function extraOf(prefixes: readonly string[], headers: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>()
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]!.toLowerCase()
    const prefix = prefixes.find((one) => name.startsWith(one))
    if (prefix === undefined) continue
    const key = unescape(name.slice(prefix.length))
    extra.set(key, [...(extra.get(key) ?? []), headers[index + 1]!])
  }
  return Object.fromEntries(extra)
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // as Kubernetes has it
  }
}
