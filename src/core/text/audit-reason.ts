/** The reason of a change travels in the user agent, which the audit log of both homes records. */

const AGENT = 'flotilla-cli'
// An audit record keeps a bounded part of the user agent; longer reasons are cut.
const MAX_ENCODED = 900

/** The user agent of a command, with the reason of its change. */
export function userAgentFor(reason: string | undefined): string {
  if (reason === undefined || reason.trim() === '') return AGENT
  let encoded = ''
  for (const char of reason.trim()) {
    const next = encoded + encodeURIComponent(char.isWellFormed() ? char : '?')
    if (next.length > MAX_ENCODED) break
    encoded = next
  }
  return `${AGENT} (${encoded.replaceAll('%20', ' ')})`
}

/** The reason in the user agent of an audit record. */
export function reasonFromUserAgent(userAgent: string): string | undefined {
  const encoded = /^flotilla-(?:cli|console\/\S+) \((.*)\)$/.exec(userAgent)?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
