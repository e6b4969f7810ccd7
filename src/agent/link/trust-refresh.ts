/**
 * Brings the agent's trust bundle up to date, version by version, each signed by the root that the join code pinned.
 */
import { fromBase64 } from '../../core/bytes.ts'
import { acceptTrust, verifyRoot } from '../../wire/trust/trust-bundle.ts'
import type { HubApi } from './hub-api.ts'
import { saveTrust } from './identity.ts'
import { withHub } from './link-session.ts'
import type { LinkSession } from './link-session.ts'

/** Accepts all newer trust bundles; without `hub`, over a connection that verifies no certificate. */
export async function refreshTrust(session: LinkSession, signal: AbortSignal, hub?: HubApi): Promise<void> {
  for (;;) {
    const after = session.trust?.bundle.version ?? 0
    const answer = hub ? await hub.trust(after, signal) : await fetchUnverified(session, after, signal)
    const root = verifyRoot(session.identity.root, answer.root)
    session.root = root
    if (answer.bundles.length === 0) break
    for (const text of answer.bundles) {
      const envelope = fromBase64(text)
      session.trust = acceptTrust(root, session.trust, envelope)
      await saveTrust(session.ports.storage, root, envelope)
    }
    session.log.info({ version: session.trust?.bundle.version }, 'trust bundle accepted')
  }
  if (!session.trust) throw new Error('the hub has no trust bundle')
}

/** An agent that was away for long knows none of the current CAs; the root's signature proves the bundle. */
function fetchUnverified(session: LinkSession, after: number, signal: AbortSignal) {
  return withHub(session, { cas: undefined }, (hub) => hub.trust(after, signal))
}
