/** Why a person does something, beside who it is: carried in the user agent, which the audit of either home keeps. */

const AGENT = 'flotilla-cli'
// What an audit record keeps of a user agent is bounded; longer reasons end early there.
const MAX_ENCODED = 900

/** The user agent of a command, with its reason if it has one. */
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
  const encoded = /^flotilla-cli \((.*)\)$/.exec(userAgent)?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
