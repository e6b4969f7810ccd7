/** URLs as Go's `url.ParseRequestURI` reads them: absolute, or a path that begins with a slash. */

/** The parts of a URL. */
export interface ParsedUrl {
  readonly text: string
  readonly scheme: string
  readonly host: string
  readonly hostname: string
  readonly port: string
  readonly path: string
  readonly query: ReadonlyMap<string, readonly string[]>
}

/** The parts of a request URI, or what is wrong with it. */
export function parseRequestUri(text: string): ParsedUrl | string {
  const fail = (what: string) => `parse ${JSON.stringify(text)}: ${what}`
  if (/[\x00-\x1f\x7f]/.test(text)) return fail('net/url: invalid control character in URL')
  if (text === '') return fail('empty url')
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)
  if (!scheme && text.startsWith(':')) return fail('missing protocol scheme')
  const rest = scheme ? text.slice(scheme[0].length) : text
  const mark = rest.indexOf('?')
  const before = mark < 0 ? rest : rest.slice(0, mark)
  if (!before.startsWith('/')) {
    // `mailto:x` is absolute, but no request goes there.
    return fail('invalid URI for request')
  }
  const hasAuthority = before.startsWith('//') && (scheme !== null || !before.startsWith('///'))
  const authority = hasAuthority && scheme !== null ? /^[^/]*/.exec(before.slice(2))![0] : ''
  const path = hasAuthority && scheme !== null ? before.slice(2 + authority.length) : before
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const parts = splitHost(host)
  if (typeof parts === 'string') return fail(parts)
  const badPath = badEscape(path)
  if (badPath !== undefined) return fail(`invalid URL escape ${JSON.stringify(badPath)}`)
  return {
    text,
    scheme: scheme ? scheme[1]!.toLowerCase() : '',
    host,
    ...parts,
    path: escapePath(path),
    query: queryOf(mark < 0 ? '' : rest.slice(mark + 1)),
  }
}

function splitHost(host: string): { hostname: string; port: string } | string {
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']')
    if (close < 0) return "missing ']' in host"
    const port = host.slice(close + 1)
    if (!/^(?::\d*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`
    return { hostname: host.slice(1, close), port: port.slice(1) }
  }
  const colon = host.indexOf(':')
  if (colon >= 0 && !/^:\d*$/.test(host.slice(host.lastIndexOf(':')))) {
    return `invalid port ${JSON.stringify(host.slice(host.lastIndexOf(':')))} after host`
  }
  if (/[ "<>\\^`{|}]/.test(host))
    return `invalid character ${JSON.stringify(/[ "<>\\^`{|}]/.exec(host)![0])} in host name`
  const last = host.lastIndexOf(':')
  return last < 0 ? { hostname: host, port: '' } : { hostname: host.slice(0, last), port: host.slice(last + 1) }
}

function badEscape(text: string): string | undefined {
  return /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)?.[0]
}

// What Go would escape in a path that is not escaped yet.
function escapePath(path: string): string {
  return path.replace(/[^a-zA-Z0-9\-_.~!$&'()*+,;=:@/%[\]]/gu, (char) => encodeURIComponent(char))
}

function queryOf(text: string): Map<string, string[]> {
  const query = new Map<string, string[]>()
  for (const part of text.split('#', 1)[0]!.split('&')) {
    if (part === '' || part.includes(';')) continue
    const equals = part.indexOf('=')
    const key = decode(equals < 0 ? part : part.slice(0, equals))
    const value = decode(equals < 0 ? '' : part.slice(equals + 1))
    if (key === undefined || value === undefined) continue
    const values = query.get(key) ?? []
    values.push(value)
    query.set(key, values)
  }
  return query
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
